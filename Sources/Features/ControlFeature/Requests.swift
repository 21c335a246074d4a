package import LiveEvents

/// What the panel asks of whoever drives the real controls: a surface, such as a mixer or the program that
/// streams.
///
/// Whatever the state depends on is here, so that a replay needs no surface: who is there, what is asked of
/// whom, and what was refused. How a request gets to its surface is up to the ``ControlSurface`` of the
/// dependencies.
package struct Requests: Equatable, Sendable, Codable {
  /// Somebody who carries out requests.
  package struct Surface: Equatable, Sendable, Codable {
    package let number: Int
    /// `nil` means all that the room asks for.
    package let controls: [String]?

    package init(number: Int, controls: [String]? = nil) {
      (self.number, self.controls) = (number, controls)
    }

    package func takes(_ control: String) -> Bool { controls?.contains(control) ?? true }
  }

  /// How many surfaces a room has at most, and how many controls all of them name.
  package static let maximumSurfaces = 16
  package static let maximumNames = 512

  /// In the order in which they came.
  package var surfaces: [Surface] = []
  /// Requests without an outcome, oldest first; at most one per control.
  package var outstanding: [ControlRequest] = []
  /// Why the last request for a control failed, until the next one.
  package var failures = ControlTable<String>()
  /// The number of the newest request.
  package var last = 0

  package init() {}

  /// The surface that a request for this control goes to: of those that take it, the last that came.
  package func surface(for control: String) -> Surface? {
    surfaces.last { $0.takes(control) }
  }

  /// Whether one more surface fits, for these controls.
  package func fits(_ controls: [String]?) -> Bool {
    let names = surfaces.reduce(controls?.count ?? 0) { $0 + ($1.controls?.count ?? 0) }
    return surfaces.count < Self.maximumSurfaces && names <= Self.maximumNames
  }

  /// The request for this control that has no outcome yet.
  package func outstanding(for control: String) -> ControlRequest? {
    outstanding.first { $0.control == control }
  }

  /// Adds a request, numbered from 1.
  mutating func begin(_ wish: ControlRequest.Wish) -> ControlRequest {
    last += 1
    let request = ControlRequest(
      number: last, wish: wish, surface: surface(for: wish.control)?.number)
    failures[request.control] = nil
    outstanding.append(request)
    return request
  }

  /// Ends a request; `nil` if it has ended before.
  mutating func end(_ number: Int, failure: String? = nil) -> ControlRequest? {
    guard let index = outstanding.firstIndex(where: { $0.number == number }) else { return nil }
    let request = outstanding.remove(at: index)
    failures[request.control] = failure
    return request
  }

  /// Notes that a request was confirmed whose effect is still to come.
  mutating func noteConfirmation(of number: Int) {
    guard let index = outstanding.firstIndex(where: { $0.number == number }) else { return }
    outstanding[index].isConfirmed = true
  }

  /// Notes that a surface came. It also gets what was asked of others, or of nobody.
  mutating func add(_ surface: Surface) {
    surfaces.removeAll { $0.number == surface.number }
    guard fits(surface.controls) else { return }
    surfaces.append(surface)
    for index in outstanding.indices where surface.takes(outstanding[index].control) {
      outstanding[index].surface = surface.number
    }
  }

  /// Notes that a surface, or every surface, is gone. Returns the numbers of what was asked of it.
  mutating func remove(_ surface: Int?) -> [Int] {
    surfaces.removeAll { surface == nil || $0.number == surface }
    return outstanding.filter { surface == nil || $0.surface == surface }.map(\.number)
  }

  /// Notes that the program was started again: requests wait until a surface comes.
  mutating func forgetSurfaces() {
    surfaces = []
    for index in outstanding.indices { outstanding[index].surface = nil }
  }
}

/// Something that a surface is asked to do.
package struct ControlRequest: Equatable, Sendable, Codable {
  package enum Wish: Equatable, Sendable, Codable {
    case slider(String, Double)
    case `switch`(String, Bool)
    case endStream
    case record(RecorderWish)

    /// The name of the control that it is about.
    package var control: String {
      switch self {
      case .slider(let control, _), .switch(let control, _): control
      case .endStream: ControlFeature.endStream
      case .record: ControlFeature.recorder
      }
    }
  }

  /// Unique in its room.
  package let number: Int
  package let wish: Wish
  /// The surface that has it.
  package var surface: Int?
  /// Whether the surface has confirmed it and only its effect is missing: the end of a stream.
  package var isConfirmed = false

  package init(number: Int, wish: Wish, surface: Int?) {
    (self.number, self.wish, self.surface) = (number, wish, surface)
  }

  package var control: String { wish.control }

  /// Reasons for which requests fail without an answer.
  package static let noAnswer = "no answer"
  package static let surfaceLeft = "the surface left"
  package static let replaced = "replaced by a later one"
}
