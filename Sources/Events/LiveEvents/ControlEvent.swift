/// What happens on the control panel.
///
/// Each case names the native `type` that carries it.
public enum ControlEvent: Sendable, Hashable {
  /// `slider`
  case slider(Slider)
  /// `tap`; `on` is the new position of a switch, `nil` for one that toggles.
  case tap(control: Text, on: Bool?)
  /// `meter`: levels from 0 to 1, one per channel, at most ``maximumChannels``.
  case meter(input: Text, levels: [Float])
  /// `host.set`: a slider is set from elsewhere, in one step, to a value from 0 to 1.
  case set(control: Text, value: Double)
  /// `host.record`: the host wants something of a recorder elsewhere.
  case record(RecorderWish)
  /// `control.state`: what the real control has by itself, wherever it was moved. Never asked for again.
  case state(control: Text, ControlState)
  /// `control.surface`: whoever carries out what the panel asks for came or went.
  case surface(ControlSurfaceEvent)
  /// `control.outcome`: the outcome of a request of the room.
  case outcome(request: Int, RequestOutcome)

  /// How many channels one meter has at most.
  public static let maximumChannels = 64
}

/// What a real control has.
public enum ControlState: Sendable, Hashable {
  /// The value of a slider, from 0 to 1.
  case value(Double)
  /// The position of a switch.
  case position(on: Bool)
}

/// One step of a drag: a `begin`, any number of `change`s, an `end`.
public struct Slider: Sendable, Hashable {
  public enum Phase: String, Sendable, CaseIterable { case begin, change, end }

  public var control: Text
  public var phase: Phase
  /// From 0 to 1.
  public var value: Double

  public init(control: Text, phase: Phase, value: Double) {
    self.control = control
    self.phase = phase
    self.value = value
  }
}
