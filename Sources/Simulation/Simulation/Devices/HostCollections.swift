import ActivityFeature
import ChatFeature
import Composable
import EncoderStatsFeature
import HangSimulation
import HostFeature
import PollFeature
import RateLimiting
import SourcesFeature
import WaitingRoomFeature
import YAMLReader

/// The collections in the state of the host's screen, on which costs can depend.
enum HostCollections {
  /// The paths of the collections, such as `chat.notices.rows`, including the collections in
  /// optional children.
  static let paths: [String] = {
    var state = HostFeature.State()
    state.activity = ActivityFeature.State()
    state.chat = ChatFeature.State()
    state.liveRoomStats = EncoderStatsFeature.State()
    state.poll = PollFeature.State()
    state.sources = SourcesFeature.State()
    state.waitingRoom = WaitingRoomFeature.State()
    var sizes = StateSizes(isThorough: true)
    sizes.look(at: state)
    return sizes.paths.sorted()
  }()

  /// Reads costs per element: a mapping from the paths of collections to times.
  static func costs(_ node: YAMLNode) throws(ConfigurationError) -> [String: Int64] {
    var costs: [String: Int64] = [:]
    for (path, value) in try YAMLMapping(node, known: paths, example: "{chat.topChatters: 2us}")
      .entries
    {
      costs[path] = try value.interval().nanoseconds
    }
    return costs
  }

  /// Reads the costs per element of several views and action kinds, by name.
  static func costsByName(
    _ node: YAMLNode
  ) throws(ConfigurationError) -> [String: [String: Int64]] {
    var costs: [String: [String: Int64]] = [:]
    let known = HostView.names + ActionKinds.host.names
    for (name, value) in try YAMLMapping(node, known: known).entries {
      costs[name] = try Self.costs(value)
    }
    return costs
  }
}
