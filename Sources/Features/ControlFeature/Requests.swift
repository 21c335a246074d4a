package import LiveEvents

/// The requests of the panel to controllers, such as a mixer or the streaming program.
///
/// Stores everything that affects the state, so that a replay needs no controller: the connected
/// controllers, the requests to each, and the refusals. The ``Controller`` dependency delivers the
/// requests.
package struct Requests: Equatable, Sendable, Codable {
  /// A controller, which carries out requests.
  package struct Surface: Equatable, Sendable, Codable {
    package let number: Int
    /// The names of the controller's controls, or `nil` for all controls of the room.
    package let controls: [String]?

    package init(number: Int, controls: [String]? = nil) {
      (self.number, self.controls) = (number, controls)
    }

    package func takes(_ control: String) -> Bool { controls?.contains(control) ?? true }
  }

  /// The maximum number of controllers of a room. ``maximumNames`` is the maximum number of
  /// controls that they name together.
  package static let maximumControllers = 16
  package static let maximumNames = 512

  /// The controllers in the order in which they connected.
  package var surfaces: [Surface] = []
  /// The requests without an outcome, oldest first, at most one per control.
  package var outstanding: [ControlRequest] = []
  /// The reason why the last request for each control failed, until the next request.
  package var failures = ControlTable<String>()
  package var last = 0

  package init() {}

  /// Returns the last connected controller that accepts requests for this control.
  package func surface(for control: String) -> Surface? {
    surfaces.last { $0.takes(control) }
  }

  /// Returns whether one more controller with these controls fits.
  package func fits(_ controls: [String]?) -> Bool {
    let names = surfaces.reduce(controls?.count ?? 0) { $0 + ($1.controls?.count ?? 0) }
    return surfaces.count < Self.maximumControllers && names <= Self.maximumNames
  }

  /// Returns the request for this control that has no outcome yet.
  package func outstanding(for control: String) -> ControlRequest? {
    outstanding.first { $0.control == control }
  }

  /// Adds a request. Numbers start at 1.
  mutating func begin(_ wish: ControlRequest.Command) -> ControlRequest {
    last += 1
    let request = ControlRequest(
      number: last, wish: wish, surface: surface(for: wish.control)?.number)
    failures[request.control] = nil
    outstanding.append(request)
    return request
  }

  /// Ends a request. Returns `nil` if the request has already ended.
  mutating func end(_ number: Int, failure: String? = nil) -> ControlRequest? {
    guard let index = outstanding.firstIndex(where: { $0.number == number }) else { return nil }
    let request = outstanding.remove(at: index)
    failures[request.control] = failure
    return request
  }

  /// Records that a controller confirmed a request whose effect has not happened yet.
  mutating func recordConfirmation(of number: Int) {
    guard let index = outstanding.firstIndex(where: { $0.number == number }) else { return }
    outstanding[index].isConfirmed = true
  }

  /// Adds a controller, which also receives the outstanding requests for its controls.
  mutating func add(_ surface: Surface) {
    surfaces.removeAll { $0.number == surface.number }
    guard fits(surface.controls) else { return }
    surfaces.append(surface)
    for index in outstanding.indices where surface.takes(outstanding[index].control) {
      outstanding[index].surface = surface.number
    }
  }

  /// Removes a controller; `nil` removes all controllers. Returns the numbers of the requests to
  /// the removed controllers.
  mutating func remove(_ surface: Int?) -> [Int] {
    surfaces.removeAll { surface == nil || $0.number == surface }
    return outstanding.filter { surface == nil || $0.surface == surface }.map(\.number)
  }

  /// Removes the controllers after a restart. Requests wait until a controller connects.
  mutating func removeSurfaces() {
    surfaces = []
    for index in outstanding.indices { outstanding[index].surface = nil }
  }
}

/// A request to a controller.
package struct ControlRequest: Equatable, Sendable, Codable {
  package enum Command: Equatable, Sendable, Codable {
    case slider(String, Double)
    case `switch`(String, Bool)
    case endStream
    case record(RecorderWish)

    package var control: String {
      switch self {
      case .slider(let control, _), .switch(let control, _): control
      case .endStream: ControlFeature.endStream
      case .record: ControlFeature.recorder
      }
    }
  }

  /// A number that is unique in its room.
  package let number: Int
  package let wish: Command
  package var surface: Int?
  /// Whether the controller has confirmed the request, but its effect, the end of the stream, has
  /// not happened yet.
  package var isConfirmed = false

  package init(number: Int, wish: Command, surface: Int?) {
    (self.number, self.wish, self.surface) = (number, wish, surface)
  }

  package var control: String { wish.control }

  /// The reasons for which requests fail without an answer.
  package static let noAnswer = "no answer"
  package static let controllerLeft = "the surface left"
  package static let replaced = "replaced by a later request"
}

extension Requests: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(surfaces, atMost: Self.maximumControllers, "surfaces")
    try check(outstanding, atMost: 2 * ControlThrottle.nameCapacity, "outstanding")
    try failures.checkBounds("failures") { $0.utf8.count <= EventLimits.nameLength }
    try require(countable: last, in: "last")
  }
}

extension Requests.Surface: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, in: "number")
    try require(names: controls ?? [], atMost: ControllerEvent.maximumControls, in: "controls")
  }
}

extension ControlRequest: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, surface, in: "number")
    try require(names: control, in: "control")
    if case .slider(_, let value) = wish {
      try require(EventLimits.fraction.contains(value), "value")
    }
  }
}
