/// The screen of `top`, with the busiest rooms above the busiest views.
package struct TopScreenModel: ScreenModel {
  package enum Update: Sendable {
    case report(TopReport)
    case connection(Bool)
  }

  /// The source number under which the state of the connection is posted.
  package static let connection = -1

  private var report: TopReport?
  private var isConnected = true
  package private(set) var order: TopOrder
  private var sortsViews = false
  /// The position of the selected row in the focused table.
  private var selected = 0
  /// The room that the user chose to watch.
  package private(set) var chosen: String?
  private var showsHelp = false

  package init(_ order: TopOrder) { self.order = order }

  package mutating func apply(_ update: Update) {
    switch update {
    case .report(let report): self.report = report
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
    case .tab, .backTab: (sortsViews, selected) = (!sortsViews, 0)
    case .enter:
      let report = report.map(order.sorted)
      chosen = sortsViews ? at(selected, report?.views)?.room : at(selected, report?.rooms)?.room
      return chosen == nil
    case .character("s"), .right: sort(by: 1)
    case .character("S"), .left: sort(by: -1)
    case .character("r"): order.isReversed.toggle()
    case .up, .character("k"): scroll(-1)
    case .down, .character("j"): scroll(1)
    case .wheel(let rows, _, _): scroll(rows)
    case .pageUp, .character("b"): scroll(-10)
    case .pageDown, .character("f"): scroll(10)
    case .home, .character("g"): selected = 0
    case .end, .character("G"): scroll(.max / 2)
    default: break
    }
    return true
  }

  private mutating func scroll(_ distance: Int) {
    let count = (sortsViews ? report?.views.count : report?.rooms.count) ?? 0
    selected = max(0, min(count - 1, selected + distance))
  }

  private func at<Row>(_ index: Int, _ rows: [Row]?) -> Row? {
    rows.flatMap { $0.indices.contains(index) ? $0[index] : $0.last }
  }

  private mutating func sort(by step: Int) {
    func next<Column: CaseIterable & Equatable>(_ column: Column) -> Column {
      let all = Array(Column.allCases)
      let index = all.firstIndex(of: column) ?? 0
      return all[(index + step + all.count) % all.count]
    }
    if sortsViews { order.views = next(order.views) } else { order.rooms = next(order.rooms) }
  }

  package func picture(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    guard let report = report.map(order.sorted) else {
      grid.put("loading ...", .faint, row: 0, column: 0, width: columns)
      return grid
    }
    if showsHelp {
      drawHelp(&grid)
      return grid
    }
    grid.put(TopText.heading(report.status), row: 0, column: 0, width: columns)
    if !isConnected {
      grid.put(ScreenText.awayNotice, .warning, row: 1, column: 0, width: columns)
    }
    // The heading, a gap and the footer take three rows. The table of views gets the rows that the
    // table of rooms does not need, but at least half of all rows.
    let free = max(0, rows - 3)
    let needed = report.rooms.count + 1
    let roomRows = min(needed, max(free / 2, free - report.views.count - 2))
    draw(
      TopText.rooms(report, order), from: 2, rows: roomRows, hasFocus: !sortsViews, &grid)
    draw(
      TopText.views(report, order), from: 3 + roomRows, rows: free - roomRows - 1,
      hasFocus: sortsViews, &grid)
    let keys = "Enter watch  Tab table  s sort  r reverse  ? help  q quit"
    grid.put(keys, .faint, row: rows - 1, column: 0, width: columns)
    return grid
  }

  private func draw(
    _ table: TextTable, from row: Int, rows: Int, hasFocus: Bool, _ grid: inout CellGrid
  ) {
    guard rows > 0 else { return }
    let lines = table.lines(columns: grid.columns)
    let style = hasFocus ? TextStyle(.cyan, strong: true) : .strong
    grid.put(lines[0], style, row: row, column: 0, width: grid.columns)
    // The table scrolls so that the selected row is at the top, until the end of the table is
    // visible.
    let first = hasFocus ? max(0, min(selected, lines.count - rows)) : 0
    let selected = min(selected, lines.count - 2)
    for (index, line) in lines.dropFirst(1 + first).prefix(rows - 1).enumerated() {
      let isSelected = hasFocus && first + index == selected
      let text = isSelected ? TerminalText.padded(line, width: grid.columns) : line
      grid.put(
        text, isSelected ? .reversed : .plain, row: row + 1 + index, column: 0,
        width: grid.columns)
    }
  }

  private func drawHelp(_ grid: inout CellGrid) {
    KeyHelp.draw(
      [
        ("q, Ctrl-C", "quit"), ("Tab", "focus the other table"),
        ("s, S", "sort by the next or previous column"), ("r", "reverse the order"),
        ("Up, Down, k, j", "select a row"), ("Page Up, Page Down", "move by ten rows"),
        ("Enter", "watch the room of the selected row"),
        ("Home, End, g, G", "go to the beginning or end of the table"),
      ],
      note: "LOAD: share of time in a view. AVOIDABLE: evaluations that changed nothing.",
      &grid)
  }
}
