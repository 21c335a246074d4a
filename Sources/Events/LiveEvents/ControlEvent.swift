/// Events of the control panel. Unless a comment names another `type`, the native `type` of a case
/// is the case's name.
public enum ControlEvent: Sendable, Hashable {
  case slider(Slider)
  /// `on` is the new position of a switch, or `nil` to toggle the switch.
  case tap(control: Text, on: Bool?)
  /// Levels from 0 to 1, one per channel, at most ``maximumChannels``.
  case meter(input: Text, levels: [Float])
  /// `host.set`: sets a slider remotely, in one step, to a value from 0 to 1.
  case set(control: Text, value: Double)
  /// `host.record`: a request from the host to an external recorder.
  case record(RecorderWish)
  /// `host.act`: an act of the host or a moderator on a platform. Boxed, because acts are rare and
  /// larger than other events.
  indirect case act(RequestedAct)
  /// `control.state`: the state of the real control, which may have been moved anywhere. Never
  /// becomes a request.
  case state(control: Text, ControlState)
  /// `control.surface`: a controller connected or disconnected. A controller carries out the
  /// panel's requests.
  case controller(ControllerEvent)
  /// `control.outcome`: the outcome of a request to a controller.
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

/// One step of dragging a slider: a `begin`, any number of `change`s, and an `end`.
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
