package import LiveEvents

/// The requests of the panel to controllers, such as a mixer or the streaming program.
///
/// Stores everything that affects the state, so that a replay needs no controller: the connected
/// controllers, the requests to each, and the refusals. The ``Controller`` dependency delivers the
/// requests.
package struct Requests: Equatable, Sendable, Codable {
  /// A controller, which carries out requests.
  package struct ConnectedController: Equatable, Sendable, Codable {
    package let number: Int
    /// The names of the controller's controls, or `nil` for all controls of the room.
    package let controls: [String]?
    /// The acts that the controller can carry out, or `nil` for none.
    package let acts: OfferedActs?

    package init(number: Int, controls: [String]? = nil, acts: OfferedActs? = nil) {
      (self.number, self.controls, self.acts) = (number, controls, acts)
    }

    package func accepts(_ control: String) -> Bool { controls?.contains(control) ?? true }
  }

  /// The maximum number of controllers of a room. ``maximumNames`` is the maximum number of
  /// controls that they name together.
  package static let maximumControllers = 16
  package static let maximumNames = 512

  /// The controllers in the order in which they connected.
  package var controllers: [ConnectedController] = []
  /// The requests without an outcome, oldest first: at most one per control, and at most
  /// ``maximumActs`` acts.
  package var outstanding: [ControlRequest] = []
  /// The reason why the last request for each control failed, until the next request.
  package var failures = ControlTable<String>()
  /// The newest acts that have ended, oldest first, or `nil` before the first one.
  package var endedActs: [EndedAct]?
  package var last = 0

  private enum CodingKeys: String, CodingKey {
    case controllers = "surfaces"
    case outstanding, failures, endedActs, last
  }

  package init() {}

  /// Returns the last connected controller that accepts requests for this control.
  package func controller(for control: String) -> ConnectedController? {
    controllers.last { $0.accepts(control) }
  }

  /// Returns whether one more controller with these controls fits.
  package func fits(_ controls: [String]?) -> Bool {
    let names = controllers.reduce(controls?.count ?? 0) { $0 + ($1.controls?.count ?? 0) }
    return controllers.count < Self.maximumControllers && names <= Self.maximumNames
  }

  /// Returns the request for this control that has no outcome yet.
  package func outstanding(for control: String) -> ControlRequest? {
    outstanding.first { $0.control == control }
  }

  /// Adds a request for a control. Numbers start at 1.
  mutating func begin(_ command: ControlRequest.Command, for control: String) -> ControlRequest {
    last += 1
    let request = ControlRequest(
      number: last, command: command, controller: controller(for: control)?.number)
    failures[control] = nil
    outstanding.append(request)
    return request
  }

  /// Ends a request; `nil` as the outcome means that the request was replaced. Returns `nil` if the
  /// request has already ended.
  mutating func end(_ number: Int, _ outcome: RequestOutcome? = nil) -> ControlRequest? {
    guard let index = outstanding.firstIndex(where: { $0.number == number }) else { return nil }
    let request = outstanding.remove(at: index)
    if let act = request.command.act, let outcome {
      record(EndedAct(number: number, act: act, outcome: outcome))
    } else if let control = request.control {
      failures[control] = if case .refused(let reason) = outcome { reason } else { nil }
    }
    return request
  }

  /// Records that a controller confirmed a request whose effect has not happened yet.
  mutating func recordConfirmation(of number: Int) {
    guard let index = outstanding.firstIndex(where: { $0.number == number }) else { return }
    outstanding[index].isConfirmed = true
  }

  /// Adds a controller, which also receives the outstanding requests for its controls, but no acts.
  mutating func add(_ controller: ConnectedController) {
    controllers.removeAll { $0.number == controller.number }
    guard fits(controller.controls) else { return }
    controllers.append(controller)
    for index in outstanding.indices {
      guard let control = outstanding[index].control, controller.accepts(control) else { continue }
      outstanding[index].controller = controller.number
    }
  }

  /// Removes a controller; `nil` removes all controllers. Returns the requests to the removed
  /// controllers.
  mutating func remove(_ controller: Int?) -> [ControlRequest] {
    controllers.removeAll { controller == nil || $0.number == controller }
    return outstanding.filter { controller == nil || $0.controller == controller }
  }

  /// Removes the controllers after a restart. Requests wait until a controller connects.
  mutating func removeControllers() {
    controllers = []
    for index in outstanding.indices { outstanding[index].controller = nil }
  }
}

/// A request to a controller.
package struct ControlRequest: Equatable, Sendable, Codable {
  package enum Command: Equatable, Sendable, Codable {
    case slider(String, Double)
    case `switch`(String, Bool)
    case endStream
    case record(RecorderWish)
    /// An act on a platform. Boxed, because an act is larger than other commands.
    indirect case act(RequestedAct)

    /// The control that the command changes; `nil` for an act.
    package var control: String? {
      switch self {
      case .slider(let control, _), .switch(let control, _): control
      case .endStream: ControlFeature.endStream
      case .record: ControlFeature.recorder
      case .act: nil
      }
    }

    /// The act; `nil` for a command for a control.
    package var act: RequestedAct? { if case .act(let act) = self { act } else { nil } }
  }

  /// A number that is unique in its room.
  package let number: Int
  package let command: Command
  package var controller: Int?
  /// Whether the controller has confirmed the request, but its effect, the end of the stream, has
  /// not happened yet.
  package var isConfirmed = false

  private enum CodingKeys: String, CodingKey {
    case number
    case command = "wish"
    case controller = "surface"
    case isConfirmed
  }

  package init(number: Int, command: Command, controller: Int?) {
    (self.number, self.command, self.controller) = (number, command, controller)
  }

  package var control: String? { command.control }

  /// The reasons for which requests fail without an answer.
  package static let noAnswer = "no answer"
  package static let controllerLeft = "the surface left"
  package static let replaced = "replaced by a later request"
  /// The reasons for refusing acts that a controller may have carried out.
  package static let actorLeft = "the outcome is unknown: the source left"
  package static let restarted = "the outcome is unknown: livehostd restarted"
}

extension Requests: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(controllers, atMost: Self.maximumControllers, "surfaces")
    try check(
      outstanding, atMost: 2 * ControlThrottle.nameCapacity + Self.maximumActs, "outstanding")
    try check(endedActs ?? [], atMost: Self.maximumEndedActs, "endedActs")
    try failures.checkBounds("failures") { $0.utf8.count <= EventLimits.nameLength }
    try require(countable: last, in: "last")
  }
}

extension Requests.ConnectedController: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, in: "number")
    try require(names: controls ?? [], atMost: ControllerEvent.maximumControls, in: "controls")
    try check(acts, "acts")
  }
}

extension ControlRequest: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, controller, in: "number")
    try require(names: control, in: "control")
    if case .slider(_, let value) = command {
      try require(EventLimits.fraction.contains(value), "value")
    }
    try check(command.act, "act")
  }
}
