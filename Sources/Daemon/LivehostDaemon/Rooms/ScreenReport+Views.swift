package import ControlInterface
package import ViewGraph

extension ScreenReport {
  /// What the views of `graph` look like now.
  package init(_ graph: ViewGraph) {
    var views: [String: View] = [:]
    graph.forEachView { id, name, output in
      views["\(id.number)"] = View(name: name, output: ScreenNode(showing: output))
    }
    self.init(root: graph.rootID.number, views: views)
  }
}

extension ScreenNode {
  fileprivate init(showing node: ViewNode) {
    switch node {
    case .empty: self.init(.empty)
    case .text(let text, let emphasis):
      self.init(.text, text: text)
      self.emphasis = emphasis.rawValue
    case .gauge(let label, let value):
      self.init(.gauge, text: label)
      // JSON has no number for a level that is none.
      self.value = value.isFinite ? value : 0
    case .row(let nodes): self.init(.row, parts: nodes.map(ScreenNode.init(showing:)))
    case .column(let nodes): self.init(.column, parts: nodes.map(ScreenNode.init(showing:)))
    case .list(let rows):
      self.init(
        .list,
        parts: rows.map { row in
          var node = ScreenNode(showing: row.node)
          node.id = row.id
          return node
        })
    case .panel(let title, let node):
      self.init(.panel, text: title, parts: [ScreenNode(showing: node)])
    case .child(let id):
      self.init(.child)
      view = id.number
    }
  }
}
