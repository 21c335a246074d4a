/// The help page of a live screen: a list of its keys.
enum KeyHelp {
  static func draw(
    _ keys: [(key: String, action: String)], note: String, _ grid: inout CellGrid
  ) {
    grid.put("Keys", .strong, row: 0, column: 0, width: grid.columns)
    for (index, (key, action)) in keys.enumerated() {
      grid.put(
        StyledLine([(TerminalText.padded(key, width: 20), .plain), (action, .faint)]),
        row: index + 2, column: 0, width: grid.columns)
    }
    grid.put(
      note, .faint, row: min(grid.rows - 1, keys.count + 3), column: 0, width: grid.columns)
  }
}
