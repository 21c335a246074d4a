/// The positions of a room's panes on a screen, computed only from the space that each pane needs.
package struct PaneLayout: Equatable, Sendable {
  /// The space that a pane needs. Rows include the title.
  package struct SpaceNeed: Equatable, Sendable {
    package var priority: Int
    package var minimumRows: Int
    /// The number of rows that the pane can fill; `nil` if unlimited.
    package var usefulRows: Int?

    package init(priority: Int, minimumRows: Int, usefulRows: Int?) {
      self.priority = priority
      self.minimumRows = minimumRows
      self.usefulRows = usefulRows
    }
  }

  /// The region of a pane, including its title.
  package struct Region: Equatable, Sendable {
    /// The index of the pane in the array of needs that was laid out.
    package var pane: Int
    package var row: Int
    package var column: Int
    package var columns: Int
    package var rows: Int
  }

  package private(set) var regions: [Region] = []
  private let needs: [SpaceNeed]

  /// The smallest width at which panes with unlimited rows get a column beside the panes with a
  /// limited number of rows. The limited panes must fill at least a third of their column.
  static let wide = 84
  /// The smallest width at which two panes share a row.
  static let pairs = 44
  private static let wideRows = 16

  /// Lays out panes, given their needs, the most important pane first. If the first pane has a
  /// limited number of rows, it occupies the whole width at the top.
  package init(_ needs: [SpaceNeed], columns: Int, rows: Int) {
    self.needs = needs
    let isHeaded = needs.first.map { $0.usefulRows != nil } ?? false
    let head = isHeaded ? [0] : []
    let others = needs.indices.dropFirst(head.count)
    let open = others.filter { needs[$0].usefulRows == nil }
    let bounded = others.filter { needs[$0].usefulRows != nil }
    let top = head.first.map { needs[$0].usefulRows ?? 0 } ?? 0
    let bounds = bounded.reduce(0) { $0 + (needs[$1].usefulRows ?? 0) }
    if columns >= Self.wide, rows >= Self.wideRows, !open.isEmpty, bounds * 3 >= rows - top {
      stack(head.map { [$0] }, 0, 0, columns, top)
      let left = columns * 11 / 20
      stack(open.map { [$0] }, top, 0, left, rows - top)
      stack(bounded.map { [$0] }, top, left + 1, columns - left - 1, rows - top)
    } else {
      let size = columns >= Self.pairs ? 2 : 1
      let groups = stride(from: 0, to: bounded.count, by: size).map {
        Array(bounded[$0..<min($0 + size, bounded.count)])
      }
      stack(head.map { [$0] } + groups + open.map { [$0] }, 0, 0, columns, rows)
    }
  }

  /// Stacks groups vertically, with the panes of a group side by side. If space is short, the least
  /// important groups are left out.
  ///
  /// Each group first gets its minimum. Each remaining row is given to the group that lacks the
  /// largest share of the rows it can use. A pane that can use any number of rows counts as if it
  /// could use half of all rows; it gets more only after all other panes have enough.
  private mutating func stack(
    _ groups: [[Int]], _ row: Int, _ column: Int, _ columns: Int, _ rows: Int
  ) {
    var groups = groups
    func least(_ group: [Int]) -> Int { group.map { needs[$0].minimumRows }.max() ?? 0 }
    func usefulRows(_ group: [Int]) -> Int {
      group.map { needs[$0].usefulRows ?? rows / 2 }.max() ?? 0
    }
    func isOpen(_ group: [Int]) -> Bool { group.contains { needs[$0].usefulRows == nil } }
    func priority(_ group: [Int]) -> Int { group.map { needs[$0].priority }.min() ?? 0 }
    while groups.reduce(0, { $0 + least($1) }) > rows,
      let last = groups.indices.max(by: { priority(groups[$0]) < priority(groups[$1]) })
    {
      groups.remove(at: last)
    }
    guard !groups.isEmpty else { return }
    var heights = groups.map(least)
    func shortfall(_ index: Int) -> Int {
      let usefulRows = max(1, usefulRows(groups[index]))
      return max(0, usefulRows - heights[index]) * 1_000 / usefulRows
    }
    for _ in heights.reduce(0, +)..<rows {
      guard let index = heights.indices.max(by: { shortfall($0) < shortfall($1) }) else { break }
      if shortfall(index) > 0 {
        heights[index] += 1
      } else if let open = groups.indices.last(where: { isOpen(groups[$0]) }) {
        heights[open] += 1
      }
    }
    var row = row
    for (group, height) in zip(groups, heights) {
      add(group, row, column, columns, height)
      row += height
    }
  }

  private mutating func add(
    _ group: [Int], _ row: Int, _ column: Int, _ columns: Int, _ rows: Int
  ) {
    // One column between adjacent panes is reserved for a line.
    let width = (columns - (group.count - 1)) / group.count
    for (index, pane) in group.enumerated() {
      let start = column + index * (width + 1)
      let isLast = index == group.count - 1
      regions.append(
        Region(
          pane: pane, row: row, column: start,
          columns: isLast ? column + columns - start : width, rows: rows))
    }
  }
}
