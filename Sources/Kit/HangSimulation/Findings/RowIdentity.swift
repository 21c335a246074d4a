import ViewGraph

extension ViewNode {
  /// How many of its elements look as they did before, at the same place. A list, a table and a text are each taken as one:
  /// what changes in it changes all of it.
  func unchangedElements(since old: ViewNode) -> Int {
    func sum(_ nodes: [ViewNode], _ others: [ViewNode]) -> Int {
      zip(nodes, others).reduce(0) { $0 + $1.0.unchangedElements(since: $1.1) }
    }
    switch (self, old) {
    case (.row(let nodes), .row(let others)), (.column(let nodes), .column(let others)):
      return sum(nodes, others)
    case (.panel(let panel, let inner), .panel(let other, let otherInner)):
      return (panel == other ? 1 : 0) + inner.unchangedElements(since: otherInner)
    case (.acting(_, let inner), .acting(_, let otherInner)):
      return inner.unchangedElements(since: otherInner)
    default: return self == old ? elementCount : 0
    }
  }

  /// The rows of the lists within, outermost first, list by list.
  fileprivate func lists(into lists: inout [[ListRow]]) {
    switch self {
    case .row(let nodes), .column(let nodes): for node in nodes { node.lists(into: &lists) }
    case .list(let rows, _): lists.append(rows)
    case .panel(_, let inner), .acting(_, let inner): inner.lists(into: &lists)
    case .empty, .text, .marked, .person, .badge, .gauge, .sparkline, .table, .child: break
    }
  }
}

/// How many rows of a view's lists look as another row did before, and so would have kept their identity if that said what
/// they are.
struct RowIdentity {
  private(set) var count = 0
  private(set) var renamed = 0
  /// Rows and the elements in them.
  private(set) var renamedElements = 0

  /// Longer lists are not looked at.
  private static let limit = 1_000

  /// - Complexity: O(rows).
  init(_ output: ViewNode, _ old: ViewNode) {
    var (lists, oldLists): ([[ViewNode.ListRow]], [[ViewNode.ListRow]]) = ([], [])
    output.lists(into: &lists)
    old.lists(into: &oldLists)
    for (rows, oldRows) in zip(lists, oldLists) where rows.count <= Self.limit {
      compare(rows, oldRows)
    }
  }

  private mutating func compare(_ rows: [ViewNode.ListRow], _ old: [ViewNode.ListRow]) {
    count += rows.count
    let unmoved = zip(rows, old).count { $0 == $1 }
    guard unmoved * 2 < rows.count else { return }
    let looks = Set(old.map(\.node))
    // Most lists have no row that looks like an old one, and no use for this.
    lazy var known = Set(old)
    for row in rows where looks.contains(row.node) && !known.contains(row) {
      renamed += 1
      renamedElements += 1 + row.node.elementCount
    }
  }
}
