import LiveEvents
import RateLimiting
package import ViewGraph
import Wording

/// Shows the title, the duration, the viewers with their history, and the likes.
package struct HeaderView: View {
  package static let name = "HeaderView"

  package init() {}

  package func body(_ state: Observed<HeaderFeature.State>, _ context: ViewContext) -> ViewNode {
    let title = state.title
    var headline: [ViewNode] = [title.isEmpty ? .text("(no title)", .faint) : .text(title, .strong)]
    switch state.connection {
    case .good, nil: break
    case .fair: headline.append(.badge("fair connection", .warning))
    case .poor: headline.append(.badge("poor connection", .bad))
    }
    var figures: [ViewNode] = [
      .text(onAir(state.phase, seconds: Int(state.durationMilliseconds / 1_000))),
      .text(Format.count(state.viewers, "viewer"), .strong),
      .text("peak \(Format.count(state.peakViewers))", .faint),
      .text(Format.count(state.likes, "like")),
    ]
    if let history = state.viewersHistory { figures.append(.sparkline(history.samples)) }
    return .panel(
      .init("header", title: "Stream", priority: 0, minimumRows: 2, usefulRows: 3),
      .column([.row(headline), .row(figures)]))
  }

  private func onAir(_ phase: StreamState?, seconds: Int) -> String {
    let duration = Format.duration(seconds: seconds)
    return switch phase {
    case nil, .waiting: "not on the air yet"
    case .live: "\(duration) on the air"
    case .paused: "\(duration) on the air, paused"
    case .ended: "\(duration) on the air, ended"
    }
  }
}
