import LiveEvents
package import ViewGraph
import Wording

/// Shows a row for each recorder in use: its state, time, and size, and a gauge if the total is
/// known.
package struct RecorderView: View {
  package static let name = "RecorderView"

  package init() {}

  package func body(_ state: Observed<RecorderFeature.State>, _ context: ViewContext) -> ViewNode {
    let own = state.own
    let elsewhere = state.elsewhere
    var lines: [ViewNode] = []
    if let own { lines += describe("here", own) + attempts(state.work) }
    if elsewhere != RecorderActivity() {
      let there = describe(own == nil ? nil : "elsewhere", elsewhere)
      // An active recorder comes first, so that it stays visible on a small screen.
      lines = own?.state == .idle && elsewhere.state != .idle ? there + lines : lines + there
    }
    return .panel(
      .init("recorder", title: "Recorder", priority: 5, usefulRows: 4),
      .acting(acts(own?.state ?? .idle), .column(lines)))
  }

  /// Returns the operations that are possible for the room's own recording.
  private func acts(_ state: RecorderState) -> [ViewAct] {
    switch state {
    case .idle, .failed: [ViewAct("record", "StartRecording")]
    case .recording: [ViewAct("pause", "PauseRecording"), ViewAct("stop", "StopRecording")]
    case .paused: [ViewAct("continue", "ResumeRecording"), ViewAct("stop", "StopRecording")]
    case .starting, .stopping: []
    }
  }

  /// Returns the last failure, and whether the attempt will be repeated.
  private func attempts(_ work: RecorderWork?) -> [ViewNode] {
    guard let work, let failure = work.failure else { return [] }
    let retry = work.retryDelay.map { "; trying again after \($0.components.seconds) s" } ?? ""
    return [.text(failure + retry, .bad)]
  }

  private func describe(_ place: String?, _ recording: RecorderActivity) -> [ViewNode] {
    let emphasis: ViewNode.Emphasis =
      switch recording.state {
      case .idle: .faint
      case .starting, .paused, .stopping: .warning
      case .recording: .active
      case .failed: .bad
      }
    var line: [ViewNode] = place.map { [.text($0, .faint)] } ?? []
    line.append(.text(recording.state.rawValue, emphasis))
    if recording.durationMilliseconds > 0 || recording.bytes > 0 {
      line.append(.text(Format.duration(seconds: recording.durationMilliseconds / 1_000)))
      line.append(.text(Format.bytes(recording.bytes)))
    }
    guard let percent = recording.percent else { return [.row(line)] }
    let share = Double(percent) / 100
    return [.row(line), .gauge(label: "done", value: share, text: Format.percent(share))]
  }
}
