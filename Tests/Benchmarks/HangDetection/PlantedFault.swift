package import HangSimulation

/// One screen of the benchmark, in a version with a planted fault and a sound version.
package struct PlantedFault: Sendable {
  /// Both versions have the same state, actions, views and events.
  package enum Version: String, CaseIterable, Sendable { case faulty, sound }

  /// The cause that a finding must name to count as a detection.
  package struct Cause: Hashable, Sendable {
    package var kind: Finding.Kind
    /// The view, action or effect, or the field of a growing collection.
    package var subject: String
    /// The field that causes the fault, or nil if there is no single field.
    package var field: String?
  }

  /// The name of the screen in tables, such as `sort-in-reducer`.
  package let name: String
  package let cause: Cause
  private let makeVariant: @Sendable (Version) -> SimulationPlan.Variant

  init<Event>(
    _ name: String, _ kind: Finding.Kind, _ subject: String, field: String? = nil,
    screen: @escaping @Sendable (Version) -> SimulatedScreen<Event>,
    events: @escaping @Sendable (Version) -> [EventStream<Event>]
  ) {
    self.name = name
    cause = Cause(kind: kind, subject: subject, field: field)
    makeVariant = { version in
      screen(version).variant(version.rawValue, events: events(version))
    }
  }

  init<Event>(
    _ name: String, _ kind: Finding.Kind, _ subject: String, field: String? = nil,
    screen: @escaping @Sendable (Version) -> SimulatedScreen<Event>, events: [EventStream<Event>]
  ) {
    self.init(name, kind, subject, field: field, screen: screen, events: { _ in events })
  }

  /// Returns a scenario of twenty seconds with one version on one phone.
  package func plan(_ version: Version, seed: UInt64) -> SimulationPlan {
    SimulationPlan(
      name, seed: seed, duration: .seconds(20), devices: [Self.phone],
      variants: [makeVariant(version)])
  }

  /// A phone half as fast as the machine that runs the benchmark. All screens have the same assumed
  /// costs.
  private static let phone = Device(
    "phone", cores: 4, slowdown: 2,
    costs: DeviceProfile.Costs(
      action: .microseconds(50), element: .microseconds(5),
      view: .cost(.microseconds(250), element: .microseconds(10), appearance: .microseconds(250))))
}
