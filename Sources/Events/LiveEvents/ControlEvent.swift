/// Events of the control panel.
///
/// Each case names its native `type`.
public enum ControlEvent: Sendable, Hashable {
  /// `slider`
  case slider(Slider)
  /// `tap`; `on` is the new position of a switch, and `nil` toggles it.
  case tap(control: Text, on: Bool?)
  /// `meter`: levels from 0 to 1, one per channel, at most ``maximumChannels``.
  case meter(input: Text, levels: [Float])
  /// `host.set`: a slider is set remotely, in one step, to a value from 0 to 1.
  case set(control: Text, value: Double)
  /// `host.record`: the host requests an act of an external recorder.
  case record(RecorderWish)
  /// `control.state`: the state of the real control, regardless of how it was moved. Never becomes
  /// a request.
  case state(control: Text, ControlState)
  /// `control.surface`: a controller, which carries out requests of the panel, connected or
  /// disconnected.
  case surface(ControllerEvent)
  /// `control.outcome`: the outcome of a request of the room.
  case outcome(request: Int, RequestOutcome)

  /// The maximum number of channels of a meter.
  public static let maximumChannels = 64
}

/// The state of a real control.
public enum ControlState: Sendable, Hashable {
  /// The value of a slider, from 0 to 1.
  case value(Double)
  /// The position of a switch.
  case position(on: Bool)
}

/// One step of a drag: a `begin`, any number of `change`s, and an `end`.
public struct Slider: Sendable, Hashable {
  public enum Phase: String, Sendable, CaseIterable { case begin, change, end }

  public var control: Text
  public var phase: Phase
  /// The value, from 0 to 1.
  public var value: Double

  public init(control: Text, phase: Phase, value: Double) {
    self.control = control
    self.phase = phase
    self.value = value
  }
}
