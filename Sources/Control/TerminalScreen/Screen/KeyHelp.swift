import ControlInterface

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

extension KeyHelp {
  /// The keys of ``HostScreenModel``, including the keys of the selected element's host actions.
  static func keys(
    hasList: Bool, rooms: Int, selected: ActTarget?
  ) -> [(key: String, action: String)] {
    var keys = [
      ("q, Ctrl-C", "quit"), ("Tab, 1 to 9", "focus another pane; 0 is the top line"),
      ("Up, Down, k, j", "select an item, or scroll"),
      ("Enter, and letters", "act on the item (see the bottom line); + - change a level"),
      ("Page Up, Page Down", "scroll by ten rows"),
      ("Home, End, g, G", "go to the beginning or end"),
      ("/ and then n, N", "search; next older, next newer"),
      ("Mouse", "select; click again, or on a label in the bottom line, to act"),
      ("Wheel", "scroll (with Shift, the mouse marks text)"),
      ("z", "zoom the pane; again to restore it"), ("Space", "pause, and continue"),
    ]
    if hasList {
      keys.insert(("Left, Right, Esc", "show another room; list the rooms"), at: 1)
    } else if rooms > 1 {
      keys.insert(("Left, Right", "show another room"), at: 1)
    }
    for (key, act) in selected?.keys ?? [] {
      let question = act.confirms == true ? ", after a question: y, or n or Esc" : ""
      keys.append(("\(key)", TerminalText.sanitized(act.label) + question))
    }
    return keys
  }
}
