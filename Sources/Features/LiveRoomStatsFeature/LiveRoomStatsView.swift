import RateLimiting
package import ViewGraph
import Wording

/// The verdict on the connection, and the newest window of each measurement with its history.
package struct LiveRoomStatsView: View {
  package static let name = "LiveRoomStatsView"

  package init() {}

  package func body(
    _ state: Observed<LiveRoomStatsFeature.State>, _ context: ViewContext
  ) -> ViewNode {
    let quality = state.quality
    let verdict = quality.rawValue + (state.fault.map { " because of \($0.rawValue)" } ?? "")
    var lines: [ViewNode] = [.text(verdict, emphasis(quality))]
    if let window = state.window {
      let rows: [[ViewNode]?] = [
        row("bitrate", window.bitrate, "kbit/s", state.bitrateHistory),
        row("frames", window.frameRate, "/s"),
        row("round trip", window.roundTrip, "ms", state.roundTripHistory),
        row("dropped", window.droppedFrames, "frames", number: whole),
        row("congestion", window.congestion, "%") { Format.rate($0 * 100) },
      ]
      lines.append(.table(Self.columns, rows.compactMap(\.self)))
    }
    return .panel(
      .init("liveRoomStats", title: "Connection", priority: 3, usefulRows: 7), .column(lines))
  }

  private static let columns: [ViewNode.TableColumn] = [
    .init(""), .init("now", .right), .init(""), .init("", isOptional: true),
    .init("least", .right, isOptional: true), .init("most", .right, isOptional: true),
    .init("mean", .right, isOptional: true),
  ]

  private func row(
    _ name: String, _ summary: Summary?, _ unit: String, _ history: History? = nil,
    number: (Double) -> String = Format.rate
  ) -> [ViewNode]? {
    guard let summary else { return nil }
    return [
      .text(name, .faint), .text(number(summary.last), .strong), .text(unit, .faint),
      history.map { .sparkline($0.samples) } ?? .empty, .text(number(summary.minimum)),
      .text(number(summary.maximum)), .text(number(summary.mean)),
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
