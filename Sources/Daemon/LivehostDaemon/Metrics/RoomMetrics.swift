import Composable
import HeaderFeature
import HostFeature
package import HostScreen
import LiveEvents
package import ViewGraph

/// The metrics of a room. They consist of numbers only, so that a scrape is cheap.
package struct RoomMetrics: Sendable {
  package let room: String
  package let viewers: Int
  package let counts: EventCounts
  package let frames: Int
  /// The number of actions per part of the screen. Actions outside any part count as `host`.
  package let actionsByFeature: [String: Int]
  package let views: [String: ViewStatistics]
  /// The number of started effects.
  package let effects: Int
}

extension Room {
  /// Returns the metrics of the room for `GetMetrics`.
  func metrics() -> RoomMetrics {
    var actions: [String: Int] = [:]
    for (kind, count) in screen.store.actionsByKind {
      let feature = kind.contains(".") ? String(kind.prefix { $0 != "." }) : "host"
      actions[feature, default: 0] += Int(count)
    }
    return RoomMetrics(
      room: name.description, viewers: screen.store.state.header.viewers, counts: counts,
      frames: Int(screen.views.frames), actionsByFeature: actions,
      views: screen.views.statistics, effects: Int(screen.store.startedEffects))
  }
}
