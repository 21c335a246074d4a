import ViewGraph

extension ViewNode {
  /// Returns how many elements look the same as the element at the same position in `old`. A list,
  /// a table, and a text each count as one unit: any change inside marks all of its elements as
  /// changed.
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

  /// Collects the rows of all nested lists, in depth-first order.
  fileprivate func lists(into lists: inout [[ListRow]]) {
    switch self {
    case .row(let nodes), .column(let nodes): for node in nodes { node.lists(into: &lists) }
    case .list(let rows, _): lists.append(rows)
    case .panel(_, let inner), .acting(_, let inner): inner.lists(into: &lists)
    case .empty, .text, .marked, .person, .badge, .gauge, .sparkline, .table, .child: break
    }
  }
}

/// Counts list rows that look like an earlier row but have another identifier. With an identifier
/// based on the content, such rows would have kept their identity.
struct RowIdentity {
  private(set) var count = 0
  private(set) var renamed = 0
  /// The elements in the renamed rows, including the rows themselves.
  private(set) var renamedElements = 0

  /// Longer lists are ignored.
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
    // Evaluated lazily, because most lists contain no row that looks like an earlier one.
    lazy var known = Set(old)
    for row in rows where looks.contains(row.node) && !known.contains(row) {
      renamed += 1
      renamedElements += 1 + row.node.elementCount
    }
  }
}
