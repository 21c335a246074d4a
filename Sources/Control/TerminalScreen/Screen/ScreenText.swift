package import ControlInterface
import Wording

/// Formats the complete screen of a room as plain text.
package enum ScreenText {
  /// The notice that a live screen shows while its content is outdated.
  package static let awayNotice = "The daemon is unreachable; waiting for it."

  /// Returns the lines of the panes named in `shown`, or of all panes if it is empty.
  package static func lines(
    _ report: ScreenReport, shown: [String] = [], columns: Int
  ) -> [String] {
    let parts = ScreenParts(report, shown: shown)
    let drawing = NodeDrawing(columns: columns - 2, form: .plain)
    var lines = headline(report.room ?? "", parts, columns: columns, .plain)
    // Panes of unlimited length come last.
    let panes =
      parts.panes.filter { $0.scrolling == nil } + parts.panes.filter { $0.scrolling != nil }
    for pane in panes {
      let content = drawing.lines(pane.content)
      if content.isEmpty, !shown.contains(pane.name) { continue }
      lines.append(StyledLine())
      lines.append(StyledLine(TerminalText.sanitized(pane.title)))
      lines += (content.isEmpty ? [StyledLine("nothing to show")] : content).map {
        StyledLine("  ") + $0
      }
    }
    for name in shown where !parts.panes.contains(where: { $0.name == name }) {
      lines += [StyledLine(), StyledLine("\(name): nothing to show")]
    }
    if let counters = report.counters {
      lines += [StyledLine(), StyledLine(events(counters) { TerminalText.width($0) <= columns })]
      if let actions = report.actions, let frames = report.frames {
        lines.append(
          StyledLine("\(Format.count(actions, "action")), \(Format.count(frames, "frame"))"))
      }
    }
    return lines.map { line in
      var text = line.text
      while text.last == " " { text.removeLast() }
      return TerminalText.fitted(text, width: columns)
    }
  }

  /// Returns the lines of the room's name and of the nodes outside all panes.
  static func headline(
    _ room: String, _ parts: ScreenParts, columns: Int, _ form: NodeDrawing.Form
  ) -> [StyledLine] {
    let name = ScreenNode(kind: .text, text: room, emphasis: .strong)
    let items = parts.headline.flatMap { $0.kind == .row ? $0.parts ?? [] : [$0] }
    return NodeDrawing(columns: columns, form: form).lines(
      ScreenNode(kind: .row, parts: [name] + items))
  }

  static func events(_ counters: Counters, fits: (String) -> Bool) -> String {
    Phrase.events(
      received: counters.received, applied: counters.applied, coalesced: counters.coalesced,
      rejected: counters.rejected, pending: counters.pending, fits: fits)
  }
}

extension Console {
  package func lines(of screen: ScreenReport, shown: [String] = []) -> [String] {
    let lines = ScreenText.lines(screen, shown: shown, columns: columns)
    return usesUnicode ? lines : lines.map(TerminalText.ascii)
  }
}
