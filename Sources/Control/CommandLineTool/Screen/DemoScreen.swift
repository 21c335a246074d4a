/// Several rooms on one screen.
package enum DemoScreen {
  /// Columns that a room needs to stand beside another.
  package static let columnsPerRoom = 60

  /// The rooms side by side where there is room for it, else below each other.
  package static func lines(_ screens: [RoomScreen], columns: Int, rows: Int?) -> [String] {
    guard !screens.isEmpty else { return ["waiting for the first events ..."] }
    guard columns >= columnsPerRoom * screens.count else {
      let share = rows.map { max(1, $0 / screens.count) }
      return screens.flatMap { screen in
        let lines = screen.lines(columns: columns, rows: share.map { $0 - 1 })
        return (share.map { Array(lines.prefix($0 - 1)) } ?? lines) + [""]
      }
    }
    let width = (columns - 3 * (screens.count - 1)) / screens.count
    let texts = screens.map { $0.lines(columns: width, rows: rows) }
    return (0..<(texts.map(\.count).max() ?? 0)).map { row in
      texts.map { TerminalText.padded(row < $0.count ? $0[row] : "", width: width) }
        .joined(separator: " | ")
    }
  }
}
