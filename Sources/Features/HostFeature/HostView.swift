import ActivityFeature
import ChatFeature
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import LiveEvents
import PollFeature
import RecorderFeature
import SourcesFeature
package import ViewGraph
import WaitingRoomFeature
import Wording

/// The whole screen: a line for the stream as a whole, and the parts below it.
package struct HostView: View {
  package static let name = "HostView"
  /// The names of all views of the screen, parents first.
  package static let names = [
    name, HeaderView.name, WaitingRoomView.name, PollView.name, ActivityView.name, ChatView.name,
    ControlView.name,
    EncoderStatsView.name, RecorderView.name, SourcesView.name,
  ]

  package init() {}

  package func body(_ state: Observed<HostFeature.State>, _ context: ViewContext) -> ViewNode {
    var line: [ViewNode] = [badge(state.phase)]
    if state.phase == .live || state.phase == .paused, state.endConfirmation == nil {
      line[0] = line[0].acting(
        ViewAct("end the stream", "SetControl", ["control": .text(ControlFeature.endStream)]))
    }
    if state.isRecording { line.append(.badge("recording", .active)) }
    switch state.quality {
    case .good: line.append(.text("good connection", .good))
    case .fair: line.append(.text("fair connection", .warning))
    case .poor: line.append(.text("poor connection", .bad))
    case nil: break
    }
    if let question = state.endConfirmation {
      if let failure = question.failure {
        line.append(.text("The stream did not end: \(failure).", .bad))
      }
      line.append(
        .text("End the stream for \(Format.count(question.viewers, "viewer"))?", .warning)
          .acting(
            ViewAct(
              "end it", "SetControl",
              ["control": .text(ControlFeature.endStream), "on": .flag(true)]),
            ViewAct(
              "go on", "SetControl",
              ["control": .text(ControlFeature.endStream), "on": .flag(false)])))
    }
    var parts: [ViewNode] = [
      .row(line),
      context.child(HeaderView(), state, \.header),
      context.child(WaitingRoomView(), state, \.waitingRoom),
      context.child(PollView(), state, \.poll),
      context.child(ActivityView(), state, \.activity),
      context.child(ChatView(), state, \.chat),
      context.child(ControlView(), state, \.control),
      context.child(EncoderStatsView(), state, \.liveRoomStats),
      context.child(RecorderView(), state, \.recorder),
      context.child(SourcesView(), state, \.sources),
    ]
    if let admitted = state.admittedBefore { parts.append(WaitingRoomView.over(admitted)) }
    return .column(parts)
  }

  private func badge(_ phase: StreamState) -> ViewNode {
    switch phase {
    case .waiting: .badge("WAITING", .warning)
    case .live: .badge("LIVE", .active)
    case .paused: .badge("PAUSED", .warning)
    case .ended: .badge("ENDED", .faint)
    }
  }
}
