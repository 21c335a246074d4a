package import ControlInterface
import LiveEvents
import Wording

/// The list of the daemon's rooms with their figures, from which the user chooses a room.
package struct RoomListDisplay: Sendable {
  private var rooms: [RoomSummary]?
  private var received: [String: Int] = [:]
  private var rates: [String: Double] = [:]
  private var time: UInt64 = 0
  private var selected: String?
  /// The text that a room's name must contain to be listed.
  package private(set) var filter = ""

  package init() {}

  /// - Parameter time: the current time in monotonic nanoseconds, for rates.
  package mutating func update(_ rooms: [RoomSummary], at time: UInt64) {
    let seconds = Double(time - min(time, self.time)) / 1e9
    for room in rooms {
      let now = room.counters.received
      // A room has no rate yet if it is new, or if its count has restarted at zero.
      if let before = received[room.room], seconds > 0, now >= before {
        rates[room.room] = Double(now - before) / seconds
      } else {
        rates[room.room] = nil
      }
    }
    received = Dictionary(rooms.map { ($0.room, $0.counters.received) }, uniquingKeysWith: max)
    self.time = time
    self.rooms = rooms.sorted { $0.room < $1.room }
  }

  package var names: [String] { (rooms ?? []).map(\.room) }
  private var shown: [RoomSummary] {
    (rooms ?? []).filter { filter.isEmpty || $0.room.contains(filter) }
  }

  /// The room that Enter opens.
  package var choice: String? {
    let shown = shown
    return (shown.first { $0.room == selected } ?? shown.first)?.room
  }

  package mutating func choose(_ room: String) { selected = room }
  package mutating func filter(_ text: String) { filter = text }

  package mutating func move(_ distance: Int) {
    let shown = shown
    guard let index = shown.firstIndex(where: { $0.room == choice }) else { return }
    let target = distance < 0 ? max(-index, distance) : min(shown.count - 1 - index, distance)
    selected = shown[index + target].room
  }

  package func picture(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    var heading = StyledLine("Rooms", .strong)
    if let rooms { heading.append("  \(Format.count(rooms.count))") }
    if !filter.isEmpty {
      heading.append("  only with \"\(TerminalText.sanitized(filter))\"", .warning)
    }
    grid.put(heading, row: 0, column: 0, width: columns)
    let shown = shown
    guard !shown.isEmpty else {
      let text =
        rooms == nil
        ? "loading ..."
        : filter.isEmpty
          ? "No room is open. A room opens with its first event."
          : "No room's name contains that text."
      grid.put(text, .faint, row: 2, column: 0, width: columns)
      return grid
    }
    var table = TextTable([
      ("ROOM", .left), ("PHASE", .left), ("VIEWERS", .right), ("EVENTS/S", .right),
      ("EVENTS", .right), ("REJECTED", .right), ("PENDING", .right),
    ])
    for room in shown {
      table.append([
        TerminalText.sanitized(room.room), room.phase.rawValue, Format.count(room.viewers),
        rates[room.room].map(Format.rate) ?? "-", Format.count(room.counters.received),
        Format.count(room.counters.rejected), Format.count(room.counters.pending),
      ])
    }
    let lines = table.lines(columns: columns)
    grid.put(lines[0], .faint, row: 2, column: 0, width: columns)
    let free = max(1, rows - 3)
    let index = shown.firstIndex { $0.room == choice } ?? 0
    let first = max(0, min(index - free / 2, shown.count - free))
    for (row, offset) in (first..<min(shown.count, first + free)).enumerated() {
      var style = TextStyle(reversed: offset == index)
      style.target = shown[offset].room
      let line = TerminalText.padded(lines[offset + 1], width: columns)
      grid.put(line, style, row: 3 + row, column: 0, width: columns)
    }
    return grid
  }
}
