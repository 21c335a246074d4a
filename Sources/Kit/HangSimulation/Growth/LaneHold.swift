/// An effect that computes on the thread of the screen for so long that a frame may be late.
///
/// Effects run on the lane of their store unless they say `onLane: false`, and hold it from one suspension to the next. The
/// turns of a simulation do not contain that time, since it was measured and differs from run to run.
public struct LaneHold: Sendable {
  /// The variant of the screen.
  public var variant: String
  /// The name of the effect.
  public var effect: String
  /// How often it held the lane for more than a millisecond, on the machine that simulates.
  public var count: Int
  /// The longest hold on the machine that simulates.
  public var longest: Duration
  /// The slowest device, and how long it is there: measured time times the slowdown of the device.
  public var device: String
  /// The longest hold on that device.
  public var longestOnDevice: Duration

  /// One line: the effect, how long it holds the thread, and what to do.
  public var line: String {
    "effect \(effect) holds the thread of the screen for up to \(longestOnDevice.shortText) on \(device) "
      + "(\(longest.shortText) here, \(count) times more than 1 ms); run it beside the thread with onLane: false"
  }
}
