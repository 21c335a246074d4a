import ChatFeature
import ControlFeature
import HeaderFeature
import HostFeature
import LiveRoomStatsFeature
import RecorderFeature
import ViewGraph
import WaitingRoomFeature

/// The views of a host's screen.
enum ScreenViews {
  /// Their names, parents first.
  static let names = [
    HostView.name, HeaderView.name, WaitingRoomView.name, ChatView.name, ControlView.name,
    LiveRoomStatsView.name, RecorderView.name,
  ]
}

extension ViewNode {
  /// What a device has to lay out and draw for it: texts, gauges, frames and rows of lists. What only
  /// arranges them, and the views below, count nothing here.
  var elementCount: Int {
    switch self {
    case .empty, .child: 0
    case .text, .gauge: 1
    case .row(let nodes), .column(let nodes): nodes.reduce(0) { $0 + $1.elementCount }
    case .list(let rows): rows.reduce(rows.count) { $0 + $1.node.elementCount }
    case .panel(_, let inner): 1 + inner.elementCount
    }
  }
}
