package import ControlInterface

/// The tree of a room's screen, split into panes and the nodes outside all panes, as a terminal
/// shows them.
package struct ScreenParts: Equatable, Sendable {
  package struct Pane: Equatable, Sendable {
    package var title: String
    package var panel: ScreenPanel
    package var content: ScreenNode

    package var name: String { panel.name }
  }

  /// The nodes outside of all panes.
  package private(set) var headline: [ScreenNode] = []
  /// The panes, sorted by descending importance.
  package private(set) var panes: [Pane] = []

  /// The depth at which a tree is cut. No real screen is this deep; the limit also stops a tree
  /// that contains itself.
  private static let deepest = 32

  /// Splits a report. Keeps the panes with the names in `shown`; keeps all if it is empty.
  package init(_ report: ScreenReport, shown: [String] = []) {
    let root = Self.resolved(ScreenNode(kind: .child, view: report.root), report, depth: 0)
    collect(root)
    panes = panes.filter { shown.isEmpty || shown.contains($0.name) }
    // Panes of equal priority keep the order of the tree.
    panes = panes.enumerated()
      .sorted { ($0.1.panel.priority, $0.0) < ($1.1.panel.priority, $1.0) }.map(\.1)
  }

  /// Returns this content, but with the headline and the panes of `before` where they differ only
  /// in figures.
  func keepingFigures(of before: ScreenParts) -> ScreenParts {
    var parts = self
    if headline.map(\.withoutFigures) == before.headline.map(\.withoutFigures) {
      parts.headline = before.headline
    }
    parts.panes = panes.map { pane in
      before.panes.first { $0.name == pane.name && $0.withoutFigures == pane.withoutFigures }
        ?? pane
    }
    return parts
  }

  private static func resolved(
    _ node: ScreenNode, _ report: ScreenReport, depth: Int
  ) -> ScreenNode {
    guard depth < deepest else { return ScreenNode(kind: .empty) }
    if node.kind == .child {
      let view = node.view.flatMap { report.views["\($0)"] }
      return view.map { resolved($0.output, report, depth: depth + 1) } ?? ScreenNode(kind: .empty)
    }
    var node = node
    node.parts = node.parts?.map { resolved($0, report, depth: depth + 1) }
    return node
  }

  private mutating func collect(_ node: ScreenNode) {
    switch node.kind {
    case .column: for part in node.parts ?? [] { collect(part) }
    case .panel:
      let name = node.text ?? ""
      panes.append(
        Pane(
          title: name,
          panel: node.panel ?? ScreenPanel(name: name, priority: .max, minimumRows: 1),
          content: ScreenNode(kind: .column, parts: node.parts)))
    case .empty, .child: break
    case .text, .gauge, .row, .list, .badge, .sparkline, .table: headline.append(node)
    }
  }
}

extension ScreenNode {
  /// This node without digits in its texts and without values and samples, for comparison. Gauges
  /// that users can move keep their values. Rows of scrolling lists are omitted.
  fileprivate var withoutFigures: ScreenNode {
    func words(_ text: String?) -> String? { text?.filter { !"0123456789,.".contains($0) } }
    var node = self
    if kind != .gauge || ownActs.isEmpty {
      (node.text, node.detail) = (words(text), words(detail))
      (node.value, node.samples) = (nil, nil)
    }
    node.parts = scrolling == nil ? parts?.map(\.withoutFigures) : nil
    return node
  }
}

extension ScreenParts.Pane {
  fileprivate var withoutFigures: ScreenParts.Pane {
    var pane = self
    pane.content = content.withoutFigures
    return pane
  }

  /// The scrolling list and the content before it; `nil` if the pane has no scrolling list.
  var scrolling: (before: ScreenNode, list: ScreenNode)? { Self.split(content) }

  private static func split(_ node: ScreenNode) -> (before: ScreenNode, list: ScreenNode)? {
    switch node.kind {
    case .list: return node.scrolling == nil ? nil : (ScreenNode(kind: .empty), node)
    case .column:
      let parts = node.parts ?? []
      for (index, part) in parts.enumerated() {
        guard let inner = split(part) else { continue }
        return (ScreenNode(kind: .column, parts: parts.prefix(index) + [inner.before]), inner.list)
      }
      return nil
    case .empty, .text, .gauge, .row, .panel, .child, .badge, .sparkline, .table: return nil
    }
  }
}
