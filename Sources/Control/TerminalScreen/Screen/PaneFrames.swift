/// Draws titles and the lines between panes.
enum PaneFrames {
  /// Draws a title in a horizontal line across the pane. The line is thick if the pane has the
  /// focus.
  static func drawTitle(
    _ title: String, hasFocus: Bool, row: Int, column: Int, width: Int, _ grid: inout CellGrid
  ) {
    let style = hasFocus ? TextStyle(.cyan, strong: true) : TextStyle.faint
    let rule = hasFocus ? "\u{2501}" : "\u{2500}"
    grid.put(
      String(repeating: rule, count: width), style, row: row, column: column, width: width)
    let text = TerminalText.fitted(TerminalText.sanitized(title), width: max(0, width - 4))
    grid.put(
      " \(text) ", hasFocus ? style : .strong, row: row, column: column + 1, width: width - 1)
  }

  /// Draws the lines between adjacent panes and joins them to the title lines.
  static func draw(_ regions: [PaneLayout.Region], below top: Int, _ grid: inout CellGrid) {
    var columns: [Int: Set<Int>] = [:]
    for region in regions where region.column > 0 {
      columns[region.column - 1, default: []]
        .formUnion(top + region.row..<min(grid.rows, top + region.row + region.rows))
    }
    for (column, rows) in columns {
      for row in Set(rows + rows.map { $0 + 1 }) where row < grid.rows {
        let isLine = rows.contains(row)
        let isAbove = rows.contains(row - 1)
        // Below the last row, a junction is drawn only where a horizontal line crosses.
        guard isLine || isRule(grid[row, column]) else { continue }
        let left = column > 0 && isRule(grid[row, column - 1])
        let right = column + 1 < grid.columns && isRule(grid[row, column + 1])
        guard let character = junction(up: isAbove, down: isLine, left: left, right: right) else {
          continue
        }
        grid.put(String(character), .faint, row: row, column: column, width: 1)
      }
    }
  }

  private static func isRule(_ cell: CellGrid.Cell) -> Bool {
    cell.character == "\u{2500}" || cell.character == "\u{2501}"
  }

  private static func junction(up: Bool, down: Bool, left: Bool, right: Bool) -> Character? {
    switch (up, down, left, right) {
    case (true, true, true, true): "┼"
    case (true, true, true, false): "┤"
    case (true, true, false, true): "├"
    case (false, true, true, true): "┬"
    case (true, false, true, true): "┴"
    case (false, true, true, false): "┐"
    case (false, true, false, true): "┌"
    case (_, true, false, false): "│"
    case (_, false, _, _): nil
    }
  }
}
