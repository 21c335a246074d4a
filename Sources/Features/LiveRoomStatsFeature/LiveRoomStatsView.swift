import RateLimiting
package import ViewGraph

/// Quality, and the newest window: last (minimum to maximum).
package struct LiveRoomStatsView: View {
  package static let name = "LiveRoomStatsView"

  package init() {}

  package func body(
    _ state: Observed<LiveRoomStatsFeature.State>, _ context: ViewContext
  ) -> ViewNode {
    let quality = state.quality
    let verdict = quality.rawValue + (state.fault.map { ": \($0.rawValue)" } ?? "")
    var lines: [ViewNode] = [.text(verdict, quality == .poor ? .warning : .strong)]
    if let window = state.window {
      append("bitrate", window.bitrate, "kbit/s", to: &lines)
      append("frames", window.frameRate, "/s", to: &lines)
      append("dropped", window.droppedFrames, "", to: &lines)
      append("round trip", window.roundTrip, "ms", to: &lines)
      if let congestion = window.congestion {
        lines.append(.gauge(label: "congestion", value: congestion.last))
      }
    }
    return .panel(title: "stats", .column(lines))
  }

  private func append(
    _ label: String, _ summary: Summary?, _ unit: String, to lines: inout [ViewNode]
  ) {
    guard let summary else { return }
    let range = "\(whole(summary.minimum)) to \(whole(summary.maximum))"
    lines.append(.text("\(label) \(whole(summary.last))\(unit) (\(range))"))
  }

  /// Rounded; a value beyond the range of integers is shown as its end.
  private func whole(_ value: Double) -> Int {
    Int(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
  }
}
