/// A picture of a terminal: a grid of characters with styles.
package struct CellGrid: Equatable, Sendable {
  package struct Cell: Equatable, Sendable {
    package var character: Character
    package var style: TextStyle
    /// The columns of the character: 1, 2 for a wide character, or 0 for the cell after a wide
    /// character.
    package var width: UInt8

    package static let blank = Cell(character: " ", style: .plain, width: 1)

    /// Whether all terminals draw the character with the same width.
    var isCertain: Bool { width == 1 && (character.isASCII || Self.drawing.contains(character)) }

    private static let drawing: ClosedRange<Character> = "\u{2500}"..."\u{259F}"
  }

  package let columns: Int
  package let rows: Int
  private var cells: [Cell]

  package init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
    cells = Array(repeating: .blank, count: self.columns * self.rows)
  }

  package subscript(row: Int, column: Int) -> Cell { cells[row * columns + column] }

  package func row(_ row: Int) -> ArraySlice<Cell> {
    cells[row * columns..<(row + 1) * columns]
  }

  /// Writes a line at a position, cut to a width with an ellipsis. Cells outside the grid are
  /// ignored.
  package mutating func put(_ line: StyledLine, row: Int, column: Int, width: Int) {
    guard (0..<rows).contains(row), column >= 0 else { return }
    let end = min(columns, column + width)
    var position = column
    let isCut = line.width > end - column
    for part in line.parts {
      for character in part.text {
        let width = TerminalText.width(of: character)
        if width == 0 { continue }
        if position + width > (isCut ? end - 1 : end) {
          if isCut, position < end { set("\u{2026}", part.style, row, position, width: 1) }
          return
        }
        set(character, part.style, row, position, width: width)
        position += width
      }
    }
  }

  package mutating func put(
    _ text: String, _ style: TextStyle = .plain, row: Int, column: Int, width: Int
  ) {
    put(StyledLine(text, style), row: row, column: column, width: width)
  }

  /// Writes a picture at a position.
  package mutating func put(_ other: CellGrid, row: Int, column: Int) {
    for line in 0..<min(other.rows, rows - row) {
      let width = min(other.columns, columns - column)
      let target = (row + line) * columns + column
      cells.replaceSubrange(target..<target + width, with: other.row(line).prefix(width))
    }
  }

  /// This picture with ASCII substitutes for lines, blocks and ellipses.
  package var ascii: CellGrid {
    var grid = self
    for index in cells.indices {
      if let substitute = TerminalText.substitutes[cells[index].character] {
        grid.cells[index].character = substitute
      }
    }
    return grid
  }

  /// Reverses the colours of a target's text within some rows and columns.
  mutating func select(
    _ target: String, rows selected: Range<Int>, columns selectedColumns: Range<Int>
  ) {
    for row in selected.clamped(to: 0..<rows) {
      for column in selectedColumns.clamped(to: 0..<columns)
      where self[row, column].style.target == target {
        cells[row * columns + column].style.isReversed.toggle()
      }
    }
  }

  /// This picture without the identities of selectable elements, which do not affect what a
  /// terminal draws.
  package var withoutTargets: CellGrid {
    var grid = self
    for index in cells.indices { grid.cells[index].style.target = nil }
    return grid
  }

  /// Replaces a row; cells missing in the new row become blank.
  mutating func replace(row: Int, with new: ArraySlice<Cell>) {
    let rest = repeatElement(Cell.blank, count: columns - new.count)
    cells.replaceSubrange(row * columns..<(row + 1) * columns, with: Array(new) + rest)
  }

  private mutating func set(
    _ character: Character, _ style: TextStyle, _ row: Int, _ column: Int, width: Int
  ) {
    let index = row * columns + column
    // If one half of a wide character is overwritten, the other half becomes blank.
    if cells[index].width == 0 { cells[index - 1] = .blank }
    let next = index + width
    if next < (row + 1) * columns, cells[next].width == 0 { cells[next] = .blank }
    cells[index] = Cell(character: character, style: style, width: UInt8(width))
    if width == 2 { cells[index + 1] = Cell(character: " ", style: style, width: 0) }
  }
}
