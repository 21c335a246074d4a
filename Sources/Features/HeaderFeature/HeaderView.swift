import LiveEvents
package import ViewGraph

/// Title, phase, duration, viewers and likes in two lines.
package struct HeaderView: View {
  package static let name = "HeaderView"

  package init() {}

  package func body(_ state: Observed<HeaderFeature.State>, _ context: ViewContext) -> ViewNode {
    .panel(
      title: "Stream",
      .column([
        .row([
          .text(state.title, .strong),
          badge(state.phase),
          .text(duration(milliseconds: state.durationMilliseconds)),
        ]),
        .row([
          .text("\(state.viewers) watching"),
          .text("peak \(state.peakViewers)", .faint),
          .text("\(state.likes) likes"),
        ]),
      ]))
  }

  private func badge(_ phase: StreamState?) -> ViewNode {
    switch phase {
    case nil: .empty
    case .waiting: .text("WAITING", .faint)
    case .live: .text("LIVE", .strong)
    case .paused: .text("PAUSED", .warning)
    case .ended: .text("ENDED", .faint)
    }
  }

  /// Hours, minutes and seconds, as in `1:02:03`.
  private func duration(milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    return "\(seconds / 3_600):\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
  }

  private func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
