package import ControlInterface

/// The rows of a scrolling list that this program has received so far. A single report of the
/// daemon contains only the newest rows.
package struct RowHistory: Sendable {
  /// The maximum number of rows kept.
  package static let capacity = 2_000

  package private(set) var rows: [ScreenNode] = []
  /// The number of the first row kept. Rows are renumbered only when rows before them are removed.
  package private(set) var first = 0
  private var scrolling: String?

  /// The number after the newest row.
  package var end: Int { first + rows.count }

  package init() {}

  /// Merges the newest rows of a list with the rows received earlier. Drops an earlier row if the
  /// newest rows cover its position but do not contain it, because it was removed from the list.
  /// Returns whether the list is the same list as before.
  ///
  /// - Complexity: O(rows reported) on average; O(rows kept) if the list has changed a lot.
  @discardableResult
  package mutating func merge(_ list: ScreenNode) -> Bool {
    let isSame = list.scrolling == scrolling
    scrolling = list.scrolling
    let newest = list.parts ?? []
    if !isSame || newest.isEmpty {
      drop(from: 0)
    } else if let start = rows.lastIndex(where: { $0.id == newest[0].id }) {
      drop(from: start)
    } else {
      // If a row other than the first is already known, the list now begins earlier than before.
      let identities = Set(newest.map(\.id))
      if rows.contains(where: { identities.contains($0.id) }) { drop(from: 0) }
    }
    rows += newest
    let surplus = rows.count - Self.capacity
    if surplus > 0 {
      rows.removeFirst(surplus)
      first += surplus
    }
    return isSame
  }

  private mutating func drop(from start: Int) { rows.removeSubrange(start...) }
}
