import ChatFeature
import ControlFeature
import HeaderFeature
import HostFeature
import LiveRoomStatsFeature
import RecorderFeature
import WaitingRoomFeature

/// The views of a host's screen.
enum ScreenViews {
  /// Their names, parents first.
  static let names = [
    HostView.name, HeaderView.name, WaitingRoomView.name, ChatView.name, ControlView.name,
    LiveRoomStatsView.name, RecorderView.name,
  ]
}
