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
          badge(state.phase, state.connection),
          .text(duration(milliseconds: state.durationMilliseconds)),
        ]),
        .row([
          .text("\(state.viewers) watching"),
          .text("peak \(state.peakViewers)", .faint),
          .text("\(state.likes) likes"),
        ]),
      ]))
  }

  private func badge(
    _ phase: StreamState?, _ connection: HeaderFeature.Connection?
  ) -> ViewNode {
    let weakness: String? =
      switch connection {
      case .good, nil: nil
      case .fair: "fair connection"
      case .poor: "poor connection"
      }
    func badge(_ text: String, _ emphasis: ViewNode.Emphasis) -> ViewNode {
      guard let weakness else { return .text(text, emphasis) }
      return .text("\(text), \(weakness)", .warning)
    }
    return switch phase {
    case nil: weakness.map { .text($0, .warning) } ?? .empty
    case .waiting: badge("WAITING", .faint)
    case .live: badge("LIVE", .strong)
    case .paused: badge("PAUSED", .warning)
    case .ended: badge("ENDED", .faint)
    }
  }

  /// Hours, minutes and seconds, as in `1:02:03`.
  private func duration(milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    return "\(seconds / 3_600):\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
  }

  private func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
