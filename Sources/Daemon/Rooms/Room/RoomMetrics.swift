import Composable
import HeaderFeature
import HostFeature
package import HostScreen
import LiveEvents
package import ViewGraph

/// The metrics of a room, as `GetMetrics` reports them: only numbers, so that a scrape is cheap.
package struct RoomMetrics: Sendable {
  package let room: String
  package let viewers: Int
  package let counts: EventCounts
  package let frames: Int
  /// The number of actions by part of the screen; `host` for actions of no part.
  package let actionsByFeature: [String: Int]
  package let views: [String: ViewStatistics]
  /// The number of effects that were started.
  package let effects: Int
}

extension RoomMetrics {
  init(_ screen: HostScreen, room: RoomName) {
    var actions: [String: Int] = [:]
    for (kind, count) in screen.store.actionsByKind {
      let feature = kind.contains(".") ? String(kind.prefix { $0 != "." }) : "host"
      actions[feature, default: 0] += Int(count)
    }
    self.init(
      room: room.description, viewers: screen.store.state.header.viewers, counts: screen.counts,
      frames: Int(screen.views.frames), actionsByFeature: actions,
      views: screen.views.statistics, effects: Int(screen.store.startedEffects))
  }
}
