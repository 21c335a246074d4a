package import HangSimulation
package import HostScreen
package import Throttling
import Wording
import YAMLReader

/// The settings of a run, which a variant or `--set` chooses.
package struct RunSettings: Hashable, Sendable {
  /// How changes of the host's child features affect the host's view.
  package var children = ChildTracking.ignored
  /// The frame rate, or `nil` for the device's own rate.
  package var refreshRate: Int?
  /// A factor for all generated rates, in millionths.
  package var load: Int64 = 1_000_000
  package var costs = CostOverrides()
  /// For each throttle, how long it may hold back events.
  package var throttling = ThrottlePolicies()

  package init() {}
}

extension RunSettings {
  /// The keys of variants and of `--set`.
  static let keys =
    [
      "host.children", "screen.refreshRate", "load", "costs.action", "costs.element", "costs.view",
      "costs.viewElement", "costs.appearance", "costs.per",
    ] + ThrottledKind.allCases.map(\.key)

  mutating func set(_ key: String, _ value: YAMLNode) throws(ConfigurationError) {
    switch key {
    case "host.children":
      children = try value.choice(ChildTracking.allCases.map { ($0.rawValue, $0) })
    case "screen.refreshRate": refreshRate = try value.integer(in: 1...240)
    case "load": load = try value.factor(atLeast: 1_000)
    case "costs.action": costs.action = try value.duration().nanoseconds
    case "costs.element": costs.element = try value.duration().nanoseconds
    case "costs.view": costs.view = try value.duration().nanoseconds
    case "costs.viewElement": costs.viewElement = try value.duration().nanoseconds
    case "costs.per": costs.per = try HostCollections.costsByName(value)
    case "costs.appearance": costs.appearance = try value.duration().nanoseconds
    default:
      guard let kind = ThrottledKind.allCases.first(where: { $0.key == key }) else {
        throw value.problem("unknown key" + Spelling.hint(for: key, among: Self.keys))
      }
      try throttling.set(kind, value)
    }
  }
}
