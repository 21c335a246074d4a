/// Columns of text under their headings.
package struct TextTable {
  package enum Alignment: Sendable { case left, right }

  private let columns: [(heading: String, alignment: Alignment)]
  private var rows: [[String]] = []

  package init(_ columns: [(heading: String, alignment: Alignment)]) { self.columns = columns }

  /// A row with one cell for each column.
  package mutating func append(_ row: [String]) {
    precondition(row.count == columns.count)
    rows.append(row)
  }

  /// The lines, headings first, two spaces between columns, none at the ends.
  package var lines: [String] {
    let all = [columns.map(\.heading)] + rows
    let widths = columns.indices.map { column in
      all.map { TerminalText.width($0[column]) }.max() ?? 0
    }
    return all.map { row in
      let cells = columns.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - TerminalText.width(row[column]))
        return columns[column].alignment == .left ? row[column] + space : space + row[column]
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
