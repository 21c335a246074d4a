/// Computes the output that makes a terminal show a picture. The output contains only the cells
/// that changed since the last picture.
///
/// Draws all cells if the size changed. If rows have only moved up, makes the terminal scroll them
/// instead of drawing them again.
package struct ScreenPainter: Sendable {
  private var shown: CellGrid?
  private let palette: TextStyle.Palette

  package init(_ palette: TextStyle.Palette) { self.palette = palette }

  /// Forgets the last picture, so that the next one is drawn completely.
  package mutating func forget() { shown = nil }

  /// Returns the output that makes the terminal show the picture, in O(*n*) for *n* cells; empty if
  /// nothing changed.
  package mutating func bytes(for grid: CellGrid) -> [UInt8] {
    var output = ""
    var old: CellGrid
    if let shown, shown.columns == grid.columns, shown.rows == grid.rows {
      old = shown
      if let scroll = Scroll(from: old, to: grid) { output += scroll.apply(to: &old) }
    } else {
      output = "\u{1B}[0m\u{1B}[2J"
      old = CellGrid(columns: grid.columns, rows: grid.rows)
    }
    var style = TextStyle.plain
    for row in 0..<grid.rows { draw(row, grid, over: old, &style, &output) }
    if style != .plain { output += "\u{1B}[0m" }
    shown = grid
    return Array(output.utf8)
  }

  /// The largest gap between two changes that is cheaper to rewrite than to skip.
  private static let shortGap = 6

  private func draw(
    _ row: Int, _ grid: CellGrid, over old: CellGrid, _ style: inout TextStyle,
    _ output: inout String
  ) {
    let new = Array(grid.row(row))
    let before = Array(old.row(row))
    guard new != before else { return }
    // All cells from here to the end of the row are blank. More than three of them are erased by
    // one command instead of written.
    let blank = (new.lastIndex { $0 != .blank } ?? -1) + 1
    var column = 0
    while let start = Self.change(new, before, from: column) {
      if start >= blank, new.count - start > 3 {
        return erase(row, start, &style, &output)
      }
      let end = Self.endOfChange(new, before, from: start)
      move(row, start, &output)
      write(new, start..<end, row, &style, &output)
      column = end
    }
  }

  /// Returns the first cell at or after `column` that must be written. If one half of a wide
  /// character has changed, the other half counts as changed, too.
  private static func change(
    _ new: [CellGrid.Cell], _ old: [CellGrid.Cell], from column: Int
  ) -> Int? {
    guard var start = (column..<new.count).first(where: { new[$0] != old[$0] }) else { return nil }
    while start > 0, new[start].width == 0 || old[start].width == 0 { start -= 1 }
    return start
  }

  private static func endOfChange(
    _ new: [CellGrid.Cell], _ old: [CellGrid.Cell], from start: Int
  ) -> Int {
    var end = start + 1
    var equal = 0
    for column in start + 1..<max(start + 1, new.count) {
      let isSame = new[column] == old[column] && new[column].width != 0 && old[column].width != 0
      equal = isSame ? equal + 1 : 0
      if !isSame { end = column + 1 }
      if equal > shortGap { break }
    }
    return end
  }

  private func erase(
    _ row: Int, _ column: Int, _ style: inout TextStyle, _ output: inout String
  ) {
    set(.plain, &style, &output)
    move(row, column, &output)
    output += "\u{1B}[K"
  }

  private func write(
    _ cells: [CellGrid.Cell], _ range: Range<Int>, _ row: Int, _ style: inout TextStyle,
    _ output: inout String
  ) {
    for column in range where cells[column].width > 0 {
      let cell = cells[column]
      set(cell.style, &style, &output)
      output.append(cell.character)
      let next = column + Int(cell.width)
      // Terminals draw emoji and some scripts with different widths, so the cursor is positioned
      // explicitly after such characters.
      if !cell.isCertain, next < range.upperBound { move(row, next, &output) }
    }
  }

  private func set(_ target: TextStyle, _ style: inout TextStyle, _ output: inout String) {
    guard target != style else { return }
    output += target.sequence(palette)
    style = target
  }

  private func move(_ row: Int, _ column: Int, _ output: inout String) {
    output += "\u{1B}[\(row + 1);\(column + 1)H"
  }
}

/// Rows that moved up together, as in a chat that occupies the full width.
private struct Scroll {
  /// The rows that scroll, including those that appear at the bottom.
  let rows: Range<Int>
  let distance: Int

  /// Fails if scrolling would avoid drawing fewer than three rows.
  init?(from old: CellGrid, to new: CellGrid) {
    var best: (rows: Range<Int>, distance: Int)?
    for distance in 1...8 where distance < new.rows {
      var start: Int?
      for row in 0...(new.rows - distance) {
        let moved =
          row < new.rows - distance && new.row(row) == old.row(row + distance)
          && new.row(row) != old.row(row)
        if moved {
          start = start ?? row
        } else if let first = start {
          if row - first > (best?.rows.count ?? 0) { best = (first..<row, distance) }
          start = nil
        }
      }
    }
    guard let best, best.rows.count >= 3 else { return nil }
    rows = best.rows.lowerBound..<best.rows.upperBound + best.distance
    distance = best.distance
  }

  func apply(to grid: inout CellGrid) -> String {
    let before = grid
    for row in rows {
      let source = row + distance
      grid.replace(row: row, with: source < rows.upperBound ? before.row(source) : [])
    }
    return "\u{1B}[0m\u{1B}[\(rows.lowerBound + 1);\(rows.upperBound)r\u{1B}[\(distance)S\u{1B}[r"
  }
}
