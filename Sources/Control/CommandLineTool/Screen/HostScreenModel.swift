package import ControlInterface

/// The screen of `watch` and of the demonstration: one room, or several to switch between, which
/// are side by side where the terminal is wide enough.
package struct HostScreenModel: ScreenModel {
  package enum Update: Sendable {
    /// What a room looks like, by the number of the room.
    case screen(room: Int, ScreenReport)
    /// Whether there is a connection to the daemon.
    case connection(Bool)
  }

  /// The source of updates about the connection.
  static let connection = -1

  private var isConnected = true
  private var displays: [RoomDisplay]
  private let names: [String]
  private var current = 0
  private var showsHelp = false

  /// How many columns a room needs to be shown next to another.
  package static let columnsPerRoom = 60

  /// - Parameters:
  ///   - rooms: The names of the rooms, the one to show first in front.
  ///   - shown: Names of the panes to show; empty means all.
  package init(rooms: [String], shown: [String] = []) {
    precondition(!rooms.isEmpty)
    names = rooms
    displays = rooms.map { _ in RoomDisplay(shown: shown) }
  }

  package mutating func apply(_ update: Update) {
    switch update {
    case .screen(let room, let screen): displays[room].update(screen)
    case .connection(let isConnected): self.isConnected = isConnected
    }
  }

  package mutating func press(_ key: Key) -> Bool {
    if showsHelp {
      showsHelp = false
      return key != .character("q")
    }
    switch key {
    case .character("q"): return false
    case .character("?"), .character("h"): showsHelp = true
    case .right, .character("n"), .character("r"): current = (current + 1) % displays.count
    case .left, .character("p"): current = (current + displays.count - 1) % displays.count
    default: _ = displays[current].press(key)
    }
    return true
  }

  package func picture(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    guard columns >= 20, rows >= 5 else {
      grid.put("too small: 20 x 5", row: 0, column: 0, width: columns)
      return grid
    }
    if showsHelp {
      Self.drawHelp(hasRooms: displays.count > 1, &grid)
      return grid
    }
    let width = (columns - (displays.count - 1)) / displays.count
    if displays.count > 1, width >= Self.columnsPerRoom, !displays[current].isZoomed {
      for (index, display) in displays.enumerated() {
        let start = index * (width + 1)
        grid.put(display.picture(columns: width, rows: rows - 1), row: 0, column: start)
        if index > 0 {
          for row in 0..<rows - 1 {
            grid.put("\u{2503}", .faint, row: row, column: start - 1, width: 1)
          }
        }
      }
    } else {
      grid.put(displays[current].picture(columns: columns, rows: rows - 1), row: 0, column: 0)
    }
    drawFoot(&grid)
    return grid
  }

  private func drawFoot(_ grid: inout CellGrid) {
    var keys = StyledLine()
    if displays[current].isPaused { keys.append("PAUSED ", .warning) }
    if displays.count > 1 {
      for (index, name) in names.enumerated() {
        keys.append(
          " \(TerminalText.sanitized(name)) ", TextStyle(reversed: index == current))
      }
      keys.append("  ")
    }
    keys.append("? help  q quit", .faint)
    let row = grid.rows - 1
    let column = max(0, grid.columns - keys.width)
    let width = max(0, column - 2)
    let state =
      isConnected
      ? displays[current].counters(columns: width) : StyledLine(ScreenText.awayNotice, .warning)
    grid.put(state, row: row, column: 0, width: width)
    grid.put(keys, row: row, column: column, width: grid.columns - column)
  }

  private static func drawHelp(hasRooms: Bool, _ grid: inout CellGrid) {
    var keys = [
      ("q, Ctrl-C", "quit"), ("Tab, 1 to 9", "focus another pane"),
      ("Up, Down, k, j", "scroll it"), ("Page Up, Page Down", "scroll it by ten rows"),
      ("Home, End, g, G", "go to its beginning or end"),
      ("Enter, z", "zoom it, and back"), ("Space", "pause, and continue"),
    ]
    if hasRooms { keys.insert(("Left, Right", "show another room"), at: 1) }
    KeyHelp.draw(keys, note: "Any key goes back to the screen.", &grid)
  }
}
