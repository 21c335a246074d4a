import Composable
package import ControlInterface
package import HostScreen
package import ViewGraph

extension ScreenReport {
  /// What the views of `screen` look like now, and where its events went.
  package init(_ screen: HostScreen, room: String) {
    self.init(screen.views)
    self.room = room
    counters = screen.counts.counters
    actions = Int(screen.store.actionCount)
    frames = Int(screen.views.frames)
  }

  /// What the views of `graph` look like now.
  package init(_ graph: ViewGraph) {
    var views: [String: ScreenView] = [:]
    graph.forEachView { id, name, output in
      views["\(id.number)"] = ScreenView(name: name, output: ScreenNode(showing: output))
    }
    self.init(root: graph.rootID.number, views: views)
  }
}

extension ScreenNode {
  package init(showing node: ViewNode) {
    switch node {
    case .empty: self.init(kind: .empty)
    case .text(let text, let emphasis):
      self.init(kind: .text, text: text, emphasis: ScreenEmphasis(emphasis))
    case .badge(let text, let emphasis):
      self.init(kind: .badge, text: text, emphasis: ScreenEmphasis(emphasis))
    case .gauge(let label, let value, let text, let emphasis):
      // JSON has no way to write a value that is not a number.
      self.init(
        kind: .gauge, text: label, emphasis: ScreenEmphasis(emphasis),
        value: value.isFinite ? value : 0,
        detail: text)
    case .sparkline(let samples): self.init(kind: .sparkline, samples: samples.map(Double.init))
    case .row(let nodes): self.init(kind: .row, parts: nodes.map(ScreenNode.init(showing:)))
    case .column(let nodes): self.init(kind: .column, parts: nodes.map(ScreenNode.init(showing:)))
    case .table(let columns, let rows):
      self.init(
        kind: .table, columns: columns.map(ScreenColumn.init),
        parts: rows.map { ScreenNode(kind: .row, parts: $0.map(ScreenNode.init(showing:))) })
    case .list(let rows, let scrolling):
      self.init(
        kind: .list, scrolling: scrolling,
        parts: rows.map { row in
          var node = ScreenNode(showing: row.node)
          node.id = row.id
          return node
        })
    case .panel(let panel, let node):
      self.init(
        kind: .panel, text: panel.title,
        panel: ScreenPanel(
          name: panel.name, priority: panel.priority, minimumRows: panel.minimumRows,
          usefulRows: panel.usefulRows),
        parts: [ScreenNode(showing: node)])
    case .child(let id): self.init(kind: .child, view: id.number)
    }
  }
}

extension ScreenEmphasis {
  /// `nil` for what has none.
  fileprivate init?(_ emphasis: ViewNode.Emphasis) {
    switch emphasis {
    case .normal: return nil
    case .strong: self = .strong
    case .faint: self = .faint
    case .good: self = .good
    case .warning: self = .warning
    case .bad: self = .bad
    case .active: self = .active
    case .person: self = .person
    }
  }
}

extension ScreenColumn {
  fileprivate init(_ column: ViewNode.TableColumn) {
    let alignment: ScreenAlignment =
      switch column.alignment {
      case .left: .left
      case .right: .right
      }
    self.init(
      title: column.title, alignment: alignment, optional: column.isOptional ? true : nil)
  }
}
