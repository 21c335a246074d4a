import Composable
import HeaderFeature
import HostFeature
package import HostScreen
import LiveEvents
package import ViewGraph

/// What metrics tell of a room: numbers alone, so that it costs a scrape little.
package struct RoomMetrics: Sendable {
  package let room: String
  package let viewers: Int
  package let counts: EventCounts
  package let frames: Int
  /// Actions by the part of the screen that they are for; `host` for those of none.
  package let actionsByFeature: [String: Int]
  package let views: [String: ViewStatistics]
}

extension Room {
  /// The room as `GetMetrics` tells of it.
  func metrics() -> RoomMetrics {
    var actions: [String: Int] = [:]
    for (kind, count) in screen.store.actionsByKind {
      let feature = kind.contains(".") ? String(kind.prefix { $0 != "." }) : "host"
      actions[feature, default: 0] += Int(count)
    }
    return RoomMetrics(
      room: name.description, viewers: screen.store.state.header.viewers, counts: counts,
      frames: Int(screen.views.frames), actionsByFeature: actions,
      views: screen.views.statistics)
  }
}
