/// Lines of text in columns: the first is left-aligned, the others are right-aligned.
struct TextColumns {
  private var rows: [[String]] = []

  mutating func append(_ row: [String]) { rows.append(row) }

  func lines(indent: Int = 0) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = String(repeating: " ", count: indent)
      for (column, cell) in row.enumerated() {
        let fill = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + fill : "  " + fill + cell
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
