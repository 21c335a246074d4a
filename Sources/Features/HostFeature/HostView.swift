import ChatFeature
import ControlFeature
import HeaderFeature
import LiveEvents
import LiveRoomStatsFeature
import RecorderFeature
package import ViewGraph
import WaitingRoomFeature

/// The whole screen: a line of the host's own, and the children below it.
package struct HostView: View {
  package static let name = "HostView"

  package init() {}

  package func body(_ state: Observed<HostFeature.State>, _ context: ViewContext) -> ViewNode {
    var line: [ViewNode] = [.text(state.phase.rawValue, .strong)]
    if state.isRecording { line.append(.text("recording", .warning)) }
    if let quality = state.quality {
      line.append(.text(quality.rawValue, quality == .poor ? .warning : .normal))
    }
    if let question = state.endConfirmation {
      line.append(.text("end the stream for \(question.viewers) viewers?", .warning))
    }
    return .column([
      .row(line),
      context.child(HeaderView(), state, \.header),
      context.child(WaitingRoomView(), state, \.waitingRoom),
      context.child(ChatView(), state, \.chat),
      context.child(ControlView(), state, \.control),
      context.child(LiveRoomStatsView(), state, \.liveRoomStats),
      context.child(RecorderView(), state, \.recorder),
    ])
  }
}
