/// A table whose columns have headings, formatted as text.
package struct TextTable {
  package enum Alignment: Sendable { case left, right }

  private let columns: [(heading: String, alignment: Alignment)]
  private var rows: [[String]] = []

  package init(_ columns: [(heading: String, alignment: Alignment)]) { self.columns = columns }

  /// Appends a row, which must have one cell for each column.
  package mutating func append(_ row: [String]) {
    precondition(row.count == columns.count)
    rows.append(row)
  }

  /// The lines of the table, headings first. Columns are separated by two spaces; lines have no
  /// trailing spaces.
  package var lines: [String] { lines(columns: .max) }

  /// Returns the lines, at most `width` columns wide. If the cells do not fit, narrows the widest
  /// left-aligned columns first; if that is not enough, cuts the lines.
  package func lines(columns width: Int) -> [String] {
    let all = [columns.map(\.heading)] + rows
    let widths = fitted(
      columns.indices.map { column in
        all.map { TerminalText.width($0[column]) }.max() ?? 0
      }, into: width)
    return all.map { row in
      let cells = columns.indices.map { column in
        let cell = TerminalText.fitted(row[column], width: widths[column])
        let space = String(repeating: " ", count: widths[column] - TerminalText.width(cell))
        return columns[column].alignment == .left ? cell + space : space + cell
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return TerminalText.fitted(line, width: width)
    }
  }

  private static let leastWidth = 6

  private func fitted(_ widths: [Int], into limit: Int) -> [Int] {
    var widths = widths
    func excessColumns() -> Int { widths.reduce(0, +) + 2 * (widths.count - 1) - limit }
    while excessColumns() > 0 {
      let candidates = widths.indices.filter {
        columns[$0].alignment == .left && widths[$0] > Self.leastWidth
      }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    return widths
  }
}
