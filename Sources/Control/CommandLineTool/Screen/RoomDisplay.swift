package import ControlInterface

/// A room on a screen: its panes, which of them has the keys, and how far each is scrolled.
package struct RoomDisplay: Sendable {
  private var report: RoomReport?
  /// Came in while the screen was held.
  private var newer: RoomReport?
  private var history = ChatHistory()
  private var lastWaitingRoom: WaitingRoomReport?
  private let features: [Feature]

  package private(set) var focus: Feature
  package private(set) var isZoomed = false
  package private(set) var isHeld = false
  /// The number behind the last message to show; nil follows the newest.
  private var chatEnd: Int?
  /// Lines that are left out at the top of the other panes.
  private var scrolled: [Feature: Int] = [:]

  /// The order in which the keys go from pane to pane.
  package static let order: [Feature] = [
    .header, .chat, .liveRoomStats, .control, .recorder, .waitingRoom,
  ]

  /// - Parameter features: Those to show; empty means all.
  package init(features: [Feature] = []) {
    self.features = Self.order.filter { features.isEmpty || features.contains($0) }
    focus = self.features.contains(.chat) ? .chat : self.features.first ?? .chat
  }

  package var isWaiting: Bool { report == nil }

  package mutating func update(_ report: RoomReport) {
    if isHeld {
      newer = report
    } else {
      show(report)
    }
  }

  private mutating func show(_ report: RoomReport) {
    self.report = report
    if let waitingRoom = report.features.waitingRoom { lastWaitingRoom = waitingRoom }
    history.merge(report.features.chat?.messages ?? [])
  }

  // MARK: Keys

  /// - Returns: Whether the key means something here.
  package mutating func press(_ key: Key) -> Bool {
    switch key {
    case .tab, .backTab:
      let index = features.firstIndex(of: focus) ?? 0
      let step = key == .tab ? 1 : features.count - 1
      focus = features[(index + step) % features.count]
    case .enter, .character("z"): isZoomed.toggle()
    case .escape where isZoomed: isZoomed = false
    case .character(" "):
      isHeld.toggle()
      if !isHeld, let newer { show(newer) }
      newer = nil
    case .character(let digit) where ("1"..."9").contains(digit):
      guard let number = digit.wholeNumberValue, number <= features.count else { return false }
      focus = features[number - 1]
    case .up, .character("k"): scroll(-1)
    case .down, .character("j"): scroll(1)
    case .pageUp, .character("b"): scroll(-10)
    case .pageDown, .character("f"): scroll(10)
    case .home, .character("g"): scroll(-.max / 2)
    case .end, .character("G"): scroll(.max / 2)
    default: return false
    }
    return true
  }

  private mutating func scroll(_ distance: Int) {
    guard focus == .chat else {
      scrolled[focus] = max(0, (scrolled[focus] ?? 0) + distance)
      return
    }
    let end = max(history.first + 1, (chatEnd ?? history.end) + distance)
    chatEnd = end < history.end ? end : nil
  }

  // MARK: Drawing

  package func picture(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    guard let report else {
      grid.put("waiting for the room ...", .faint, row: 0, column: 0, width: columns)
      return grid
    }
    if isZoomed {
      draw(
        PaneLayout.Place(feature: focus, row: 0, column: 0, columns: columns, rows: rows), report,
        &grid)
      return grid
    }
    let layout = PaneLayout(Set(features), columns: columns, rows: rows)
    for place in layout.places {
      draw(place, report, &grid)
      if place.column > 0 {
        for row in place.row..<place.row + place.rows {
          grid.put("\u{2502}", .faint, row: row, column: place.column - 1, width: 1)
        }
      }
    }
    return grid
  }

  private func draw(_ place: PaneLayout.Place, _ report: RoomReport, _ grid: inout CellGrid) {
    drawTitle(place, report, &grid)
    let rows = place.rows - 1
    var lines: [StyledLine]
    if place.feature == .chat {
      lines = ChatPane(chat: report.features.chat, history: history, end: chatEnd)
        .lines(columns: place.columns, rows: rows)
    } else {
      lines = PaneText(report: report, lastWaitingRoom: lastWaitingRoom)
        .lines(place.feature, columns: place.columns, rows: rows)
      lines.removeFirst(min(scrolled[place.feature] ?? 0, max(0, lines.count - rows)))
      if lines.count > rows, rows > 1 {
        let hidden = lines.count - rows + 1
        lines = lines.prefix(rows - 1) + [StyledLine("... \(hidden) more lines", .faint)]
      }
    }
    for (index, line) in lines.prefix(rows).enumerated() {
      grid.put(line, row: place.row + 1 + index, column: place.column, width: place.columns)
    }
  }

  private func drawTitle(_ place: PaneLayout.Place, _ report: RoomReport, _ grid: inout CellGrid) {
    let hasKeys = place.feature == focus
    var title = StyledLine("\u{2500} ", .faint)
    let name = PaneText.title(place.feature)
    let nameStyle: TextStyle = hasKeys ? TextStyle(.cyan, strong: true) : .strong
    if place.feature == .header {
      title.append(TerminalText.sanitized(report.room), nameStyle)
      title.append(" ", .faint)
      title.append(name, .faint)
    } else {
      title.append(name, nameStyle)
    }
    title.append(hasKeys ? " * " : " ", .faint)
    title.append(
      String(repeating: "\u{2500}", count: max(0, place.columns - title.width)), .faint)
    grid.put(title, row: place.row, column: place.column, width: place.columns)
  }

  /// Where the room's events went, as much of it as a width has room for.
  package func counters(columns: Int) -> StyledLine {
    guard let report else { return StyledLine() }
    let counters = report.counters
    let received = "\(Format.count(counters.received)) events"
    let forms = [
      "\(received) = \(Format.count(counters.applied)) applied + "
        + "\(Format.count(counters.coalesced)) coalesced + \(Format.count(counters.rejected)) "
        + "rejected + \(Format.count(counters.pending)) pending",
      "\(received), \(Format.count(counters.rejected)) rejected, "
        + "\(Format.count(counters.pending)) pending",
      received,
    ]
    return StyledLine(forms.first { TerminalText.width($0) <= columns } ?? "", .faint)
  }
}
