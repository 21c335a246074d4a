import LiveEvents
import RateLimiting
package import ViewGraph
import Wording

/// Shows the title, the duration, the viewers with their history, and the likes. If several sources
/// report viewers, also shows the viewers of each.
package struct HeaderView: View {
  package static let name = "HeaderView"

  package init() {}

  package func body(_ state: Observed<HeaderFeature.State>, _ context: ViewContext) -> ViewNode {
    let title = state.title
    var headline: [ViewNode] = [title.isEmpty ? .text("(no title)", .faint) : .text(title, .strong)]
    if let category = state.category, !category.isEmpty { headline.append(.text(category, .faint)) }
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
    var rows: [ViewNode] = [.row(headline), .row(figures)]
    if let parts = state.parts.flatMap(row) { rows.append(parts) }
    return .panel(
      .init("header", title: "Stream", priority: 0, minimumRows: 2, usefulRows: rows.count + 1),
      .column(rows))
  }

  /// Returns a row such as `twitch 1,204 · youtube 310 · owncast 12 stale`, or `nil` if fewer than
  /// two sources report viewers.
  private func row(_ parts: [HeaderPart]) -> ViewNode? {
    let shown = parts.filter { $0.isShown && $0.hasViewers }
    guard shown.count > 1 else { return nil }
    let names = Origin.distinctNames(of: shown.map(\.origin))
    var nodes: [ViewNode] = []
    for (part, name) in zip(shown, names) {
      if !nodes.isEmpty { nodes.append(.text("·", .faint)) }
      let count = "\(name) \(Format.count(part.viewers ?? 0))"
      nodes.append(part.standing == .stale ? .text("\(count) stale", .warning) : .text(count))
    }
    return .row(nodes)
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
