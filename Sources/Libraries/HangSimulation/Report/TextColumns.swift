/// Indented lines of text in columns: the first is left-aligned, the others are right-aligned.
enum TextColumns {
  static func lines(_ rows: [[String]]) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = "  "
      for (column, cell) in row.enumerated() {
        let fill = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + fill : "  " + fill + cell
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
