import LiveEvents
package import ViewGraph
import Wording

/// Shows a row for each source, with its state and its missing events.
package struct SourcesView: View {
  package static let name = "SourcesView"

  package init() {}

  package func body(_ state: Observed<SourcesFeature.State>, _ context: ViewContext) -> ViewNode {
    let rows = state.sources.map { ViewNode.ListRow(id: String($0.name), $0.row) }
    return .panel(
      .init("sources", title: "Sources", priority: 3, minimumRows: 1, usefulRows: rows.count),
      .list(rows))
  }
}

extension SourcesFeature.Source {
  fileprivate var row: ViewNode {
    var parts: [ViewNode] = [.text(String(name), .strong)]
    if let platform = status?.platform { parts.append(.text("(\(platform))", .faint)) }
    if let status { parts.append(status.badge) }
    if let reason = status?.reason, !reason.isEmpty {
      parts.append(.text(String(reason), status?.state == .refused ? .bad : .faint))
    }
    if let gap = lastGap {
      parts.append(.text(gapText(gap), .warning))
    }
    for (count, label) in [
      (status?.lost ?? 0, "lost"), (status?.backfilled ?? 0, "back-filled"),
      (status?.duplicate ?? 0, "duplicate"), (status?.notShown ?? 0, "not shown"),
    ] where count > 0 {
      parts.append(.text("\(Format.count(count)) \(label)", label == "lost" ? .warning : .faint))
    }
    return .row(parts)
  }

  private func gapText(_ gap: MissedTime) -> String {
    let text = "gap of \(SourceHealth.seconds(gap.milliseconds)) (\(gap.reason))"
    guard gaps > 1 else { return text }
    return text + ", \(Format.count(gaps, "gap")), \(SourceHealth.seconds(gapMilliseconds)) in all"
  }
}

extension SourceHealth {
  fileprivate var badge: ViewNode {
    switch state {
    case .connecting: .badge("CONNECTING", .warning)
    case .live: .badge("LIVE", .active)
    case .behind:
      .badge(behindMilliseconds.map { "BEHIND \(Self.seconds($0))" } ?? "BEHIND", .warning)
    case .refused: .badge("REFUSED", .bad)
    case .ended: .badge("ENDED", .faint)
    }
  }

  /// Formats whole seconds. Below ten seconds, includes tenths, rounded up so that a short time
  /// does not appear as zero.
  fileprivate static func seconds(_ milliseconds: Int) -> String {
    guard milliseconds < 10_000 else {
      return Format.duration(seconds: milliseconds / 1_000 + (milliseconds % 1_000 > 0 ? 1 : 0))
    }
    let tenths = (milliseconds + 99) / 100
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  }
}
