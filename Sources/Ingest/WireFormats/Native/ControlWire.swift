import JSON
import LiveEvents

extension ControlEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case slider, tap, meter
    case set = "host.set"
    case record = "host.record"
    case act = "host.act"
    case state = "control.state"
    case controller = "control.surface"
    case outcome = "control.outcome"

    /// Whether only this program writes the type, in its log and recordings. Controllers, requests
    /// for a recording and acts on platforms use the control socket, so a line from a client must
    /// not forge their events.
    var isOwn: Bool {
      switch self {
      case .slider, .tap, .meter, .set, .state: false
      case .record, .act, .controller, .outcome: true
      }
    }
  }

  var nativeType: NativeType {
    switch self {
    case .slider: .slider
    case .tap: .tap
    case .meter: .meter
    case .set: .set
    case .record: .record
    case .act: .act
    case .state: .state
    case .controller: .controller
    case .outcome: .outcome
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .slider:
        .slider(
          Slider(
            control: try line.name(.control), phase: try line.choice(.phase),
            value: try line.number(.value, in: EventLimits.fraction)))
      case .tap: .tap(control: try line.name(.control), on: try line.exactBool(.on))
      case .meter:
        .meter(
          input: try line.name(.input),
          levels: try line.numbers(.levels, in: EventLimits.fraction, atMost: Self.maximumChannels))
      case .set:
        .set(
          control: try line.name(.control),
          value: try line.number(.value, in: EventLimits.fraction))
      case .record: .record(try line.choice(.kind))
      case .act: .act(try RequestedAct(line))
      case .state: .state(control: try line.name(.control), try ControlState(line))
      case .controller: .controller(try ControllerEvent(line))
      case .outcome:
        .outcome(
          request: try line.integer(.request, in: EventLimits.count),
          try RequestOutcome(line))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .slider(let slider):
      object.add("control", slider.control)
      object.add("phase", slider.phase.rawValue)
      object.add("value", slider.value)
    case .tap(let control, let on):
      object.add("control", control)
      object.add("on", on)
    case .meter(let input, let levels):
      object.add("input", input)
      object.addArray("levels") { array in for level in levels { array.append(level) } }
    case .set(let control, let value):
      object.add("control", control)
      object.add("value", value)
    case .record(let wish): object.add("kind", wish.rawValue)
    case .act(let act): act.write(to: &object)
    case .state(let control, let state):
      object.add("control", control)
      switch state {
      case .value(let value): object.add("value", value)
      case .position(let on): object.add("on", on)
      }
    case .controller(let event): event.write(to: &object)
    case .outcome(let request, let outcome):
      object.add("request", request)
      outcome.write(to: &object)
    }
  }
}

extension ControlState {
  /// Reads either a value or a position, since a control is either a slider or a switch.
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    guard let on = try line.exactBool(.on) else {
      self = .value(try line.number(.value, in: EventLimits.fraction))
      return
    }
    guard !line.has(.value) else { throw line.invalid(.value) }
    self = .position(on: on)
  }
}

extension ControllerEvent {
  private enum Phase: String, CaseIterable { case begin, end, restart }

  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    let phase: Phase = try line.choice(.phase)
    self =
      switch phase {
      case .begin:
        .began(
          controller: try line.integer(.surface, in: EventLimits.count),
          controls: line.has(.names)
            ? try line.names(.names, atMost: Self.maximumControls) : nil,
          acts: try OfferedActs.read(line))
      case .end: .ended(controller: try line.exactInteger(.surface, in: EventLimits.count))
      case .restart: .restarted
      }
  }

  fileprivate func write(to object: inout JSONWriter) {
    switch self {
    case .began(let controller, let controls, let acts):
      object.add("phase", Phase.begin.rawValue)
      object.add("surface", controller)
      if let controls {
        object.addArray("names") { array in for name in controls { array.append(name) } }
      }
      acts?.write(to: &object)
    case .ended(let controller):
      object.add("phase", Phase.end.rawValue)
      object.add("surface", controller)
    case .restarted: object.add("phase", Phase.restart.rawValue)
    }
  }
}

extension RequestOutcome {
  private enum Name: String, CaseIterable { case confirmed, sent, refused }

  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    let name: Name = try line.choice(.state)
    self =
      switch name {
      case .confirmed: .confirmed
      case .sent: .sent
      case .refused: .refused(reason: String(try line.shortText(.reason)))
      }
  }

  fileprivate func write(to object: inout JSONWriter) {
    switch self {
    case .confirmed: object.add("state", Name.confirmed.rawValue)
    case .sent: object.add("state", Name.sent.rawValue)
    case .refused(let reason):
      object.add("state", Name.refused.rawValue)
      object.add("reason", reason)
    }
  }
}
