/// An effect that computes on the screen's thread for so long that a frame may be late.
///
/// Effects run on the lane of their store unless they have `onLane: false`, and hold it between
/// suspensions. The simulated turns do not include that time, because it is measured and differs
/// from run to run.
public struct LaneHold: Sendable {
  /// The variant of the screen.
  public var variant: String
  /// The name of the effect.
  public var effect: String
  /// The number of holds of more than a millisecond on the simulating machine.
  public var count: Int
  /// The longest hold on the simulating machine.
  public var longest: Duration
  /// The name of the slowest device.
  public var device: String
  /// The longest hold on that device: the measured time multiplied by its slowdown.
  public var longestOnDevice: Duration

  /// One line with the effect, the longest hold, and the remedy.
  public var line: String {
    "effect \(effect) holds the thread of the screen for up to \(longestOnDevice.shortText) "
      + "on \(device) (\(longest.shortText) here; \(count) holds longer than 1 ms); "
      + "run it outside the lane with onLane: false"
  }
}
