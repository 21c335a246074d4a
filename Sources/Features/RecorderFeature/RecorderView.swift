import LiveEvents
package import ViewGraph

/// One line per recorder: state, time, size, and a gauge where the total is known.
package struct RecorderView: View {
  package static let name = "RecorderView"

  package init() {}

  package func body(_ state: Observed<RecorderFeature.State>, _ context: ViewContext) -> ViewNode {
    var lines = describe("elsewhere", state.elsewhere)
    if let own = state.own { lines += describe("own", own) }
    return .panel(title: "recorder", .column(lines))
  }

  private func describe(_ label: String, _ recording: RecorderActivity) -> [ViewNode] {
    let emphasis: ViewNode.Emphasis =
      switch recording.state {
      case .failed: .warning
      case .recording: .strong
      case .idle: .faint
      case .starting, .paused, .stopping: .normal
      }
    var text = "\(label) \(recording.state.rawValue)"
    if recording.durationMilliseconds > 0 {
      text += " \(recording.durationMilliseconds / 1_000) s"
    }
    if recording.bytes > 0 { text += " \(recording.bytes / 1_000) kB" }
    let line = ViewNode.text(text, emphasis)
    guard let percent = recording.percent else { return [line] }
    return [line, .gauge(label: "progress", value: Double(percent) / 100)]
  }
}
