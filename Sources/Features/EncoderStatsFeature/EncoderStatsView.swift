import LiveEvents
import RateLimiting
package import ViewGraph
import Wording

/// Shows the quality of the connection, and the newest window of each measurement with its history.
/// If several sources send statistics, also shows the quality of each.
package struct EncoderStatsView: View {
  package static let name = "LiveRoomStatsView"

  package init() {}

  package func body(
    _ state: Observed<EncoderStatsFeature.State>, _ context: ViewContext
  ) -> ViewNode {
    let quality = state.quality
    let verdict = quality.rawValue + (state.fault.map { " because of \($0.rawValue)" } ?? "")
    var lines: [ViewNode] = [.text(verdict, emphasis(quality))]
    if let window = state.window {
      let fault = state.fault
      func row(
        _ name: String, _ summary: Summary?, _ unit: String, _ history: History? = nil,
        of cause: StreamFault? = nil, number: (Double) -> String = Format.rate
      ) -> [ViewNode]? {
        let isAtFault = cause != nil && cause == fault
        return self.row(
          name, summary, unit, history, isAtFault ? emphasis(quality) : .strong, number)
      }
      let rows: [[ViewNode]?] = [
        row("bitrate", window.bitrate, "kbit/s", state.bitrateHistory),
        row("frames", window.frameRate, "/s", of: .frameShortfall),
        row("round trip", window.roundTrip, "ms", state.roundTripHistory, of: .roundTrip),
        row("dropped", window.droppedFrames, "frames", of: .droppedFrames, number: whole),
        row("congestion", window.congestion, "%", of: .congestion) { Format.rate($0 * 100) },
      ]
      let shown = rows.compactMap(\.self)
      let hasRange = shown.contains { $0.last != .empty }
      lines.append(.table(Self.columns(hasRange: hasRange), shown))
    }
    if let parts = state.parts { lines.append(row(parts)) }
    return .panel(
      .init("liveRoomStats", title: "Connection", priority: 3, usefulRows: 7), .column(lines))
  }

  /// Returns a row such as `obs good · owncast stale`.
  private func row(_ parts: [EncoderPart]) -> ViewNode {
    var nodes: [ViewNode] = []
    for (part, name) in zip(parts, Origin.distinctNames(of: parts.map(\.origin))) {
      if !nodes.isEmpty { nodes.append(.text("·", .faint)) }
      nodes.append(
        part.isStale
          ? .text("\(name) stale", .faint)
          : .text("\(name) \(part.quality.rawValue)", emphasis(part.quality)))
    }
    return .row(nodes)
  }

  private static func columns(hasRange: Bool) -> [ViewNode.TableColumn] {
    [
      .init(""), .init("now", .right), .init(""), .init("", isOptional: true),
      .init(hasRange ? "range" : "", .right, isOptional: true),
    ]
  }

  private func row(
    _ name: String, _ summary: Summary?, _ unit: String, _ history: History?,
    _ emphasis: ViewNode.Emphasis, _ number: (Double) -> String
  ) -> [ViewNode]? {
    guard let summary else { return nil }
    let (least, most) = (number(summary.minimum), number(summary.maximum))
    return [
      .text(name, .faint), .text(number(summary.last), emphasis), .text(unit, .faint),
      history.map { .sparkline($0.samples) } ?? .empty,
      // A window usually has a single sample, so that there is no range to show.
      least == most ? .empty : .text("\(least) to \(most)", .faint),
    ]
  }

  private func whole(_ value: Double) -> String { Format.count(Int(clamping: value)) }

  private func emphasis(_ quality: StreamQuality) -> ViewNode.Emphasis {
    switch quality {
    case .good: .good
    case .fair: .warning
    case .poor: .bad
    }
  }
}
