package import ControlInterface

/// Where the panes of a room stand on a screen.
package struct PaneLayout: Equatable, Sendable {
  /// The place of a pane, its title included.
  package struct Place: Equatable, Sendable {
    package var feature: Feature
    package var row: Int
    package var column: Int
    package var columns: Int
    package var rows: Int
  }

  package private(set) var places: [Place] = []

  /// Columns from which chat stands beside the other panes, and from which two of them stand in a row.
  static let wide = 84
  static let pairs = 44
  private static let wideRows = 18

  /// Rows that a pane needs, and rows beyond which more are no use.
  private static func need(_ feature: Feature) -> (least: Int, most: Int) {
    switch feature {
    case .header: (3, 3)
    case .liveRoomStats: (2, 7)
    case .control: (2, 10)
    case .recorder: (2, 4)
    case .waitingRoom: (2, 4)
    case .chat: (3, .max)
    }
  }

  /// What stays longest when there is no room for all.
  private static let byImportance: [Feature] = [
    .header, .chat, .liveRoomStats, .control, .recorder, .waitingRoom,
  ]
  private static let side: [Feature] = [.liveRoomStats, .control, .recorder, .waitingRoom]

  package init(_ shown: Set<Feature>, columns: Int, rows: Int) {
    let hasSide = Self.side.contains(where: shown.contains)
    if columns >= Self.wide, rows >= Self.wideRows, shown.contains(.chat), hasSide {
      let top = shown.contains(.header) ? 3 : 0
      if top > 0 { add([.header], 0, 0, columns, top) }
      let left = columns * 11 / 20
      add([.chat], top, 0, left, rows - top)
      stack(
        Self.side.filter(shown.contains).map { [$0] }, top, left + 1, columns - left - 1,
        rows - top)
    } else if columns >= Self.pairs {
      let pairs: [[Feature]] = [
        [.header], [.liveRoomStats, .control], [.recorder, .waitingRoom], [.chat],
      ]
      stack(pairs.map { $0.filter(shown.contains) }.filter { !$0.isEmpty }, 0, 0, columns, rows)
    } else {
      let order: [Feature] = [
        .header, .liveRoomStats, .control, .recorder, .waitingRoom, .chat,
      ]
      stack(order.filter(shown.contains).map { [$0] }, 0, 0, columns, rows)
    }
  }

  /// Groups one above the other, the panes of a group side by side. The rows are dealt out to whom most
  /// of what it could use is missing; groups for which there is no room are left out.
  private mutating func stack(
    _ groups: [[Feature]], _ row: Int, _ column: Int, _ columns: Int, _ rows: Int
  ) {
    var groups = groups
    func least(_ group: [Feature]) -> Int { group.map { Self.need($0).least }.max() ?? 0 }
    func most(_ group: [Feature]) -> Int {
      group.map { min(Self.need($0).most, rows) }.max() ?? 0
    }
    func importance(_ group: [Feature]) -> Int {
      group.compactMap(Self.byImportance.firstIndex(of:)).min() ?? 0
    }
    while groups.reduce(0, { $0 + least($1) }) > rows,
      let last = groups.indices.max(by: { importance(groups[$0]) < importance(groups[$1]) })
    {
      groups.remove(at: last)
    }
    guard !groups.isEmpty else { return }
    var heights = groups.map(least)
    for _ in heights.reduce(0, +)..<rows {
      func want(_ index: Int) -> Int {
        let goal = max(1, most(groups[index]))
        return max(0, goal - heights[index]) * 1_000 / goal
      }
      let index = heights.indices.max { want($0) < want($1) } ?? 0
      // When nobody can use more, the last one is as good as any.
      heights[want(index) > 0 ? index : heights.count - 1] += 1
    }
    var place = row
    for (group, height) in zip(groups, heights) {
      add(group, place, column, columns, height)
      place += height
    }
  }

  private mutating func add(
    _ group: [Feature], _ row: Int, _ column: Int, _ columns: Int, _ rows: Int
  ) {
    // A column between panes is left for a line.
    let width = (columns - (group.count - 1)) / group.count
    for (index, feature) in group.enumerated() {
      let start = column + index * (width + 1)
      let isLast = index == group.count - 1
      places.append(
        Place(
          feature: feature, row: row, column: start,
          columns: isLast ? column + columns - start : width, rows: rows))
    }
  }
}
