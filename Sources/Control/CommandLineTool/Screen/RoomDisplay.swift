package import ControlInterface

/// A room on a terminal: its panes, which of them has the focus, and how far each is scrolled.
package struct RoomDisplay: Sendable {
  private var report: ScreenReport?
  private var parts: ScreenParts?
  /// Came in while the screen was paused.
  private var newer: ScreenReport?
  /// Names of the panes to show; empty means all.
  private let shown: [String]

  private var chosenFocus: String?
  package private(set) var isZoomed = false
  package private(set) var isPaused = false
  /// By name of the pane.
  private var histories: [String: RowHistory] = [:]
  /// The number after that of the last row to show; absent follows the newest.
  private var ends: [String: Int] = [:]
  /// Lines that are left out at the top of panes without a scrolling list.
  private var skipped: [String: Int] = [:]

  package init(shown: [String] = []) { self.shown = shown }

  package mutating func update(_ report: ScreenReport) {
    if isPaused {
      newer = report
    } else {
      show(report)
    }
  }

  private mutating func show(_ report: ScreenReport) {
    let parts = ScreenParts(report, shown: shown)
    for pane in parts.panes {
      guard let list = pane.scrolling?.list else { continue }
      let isSame = histories[pane.name, default: RowHistory()].merge(list)
      if !isSame { ends[pane.name] = nil }
    }
    self.report = report
    self.parts = parts
  }

  private var panes: [ScreenParts.Pane] { parts?.panes ?? [] }

  /// The pane that has the focus: the one that was chosen, or one that scrolls.
  private var focus: String? {
    if let chosenFocus, panes.contains(where: { $0.name == chosenFocus }) { return chosenFocus }
    return (panes.first { $0.scrolling != nil } ?? panes.first)?.name
  }

  // MARK: Keys

  /// - Returns: Whether the key has a meaning here.
  package mutating func press(_ key: Key) -> Bool {
    switch key {
    case .tab, .backTab: moveFocus(key == .tab ? 1 : -1)
    case .enter, .character("z"): isZoomed.toggle()
    case .escape where isZoomed: isZoomed = false
    case .character(" "):
      isPaused.toggle()
      if !isPaused, let newer { show(newer) }
      newer = nil
    case .character(let digit) where ("1"..."9").contains(digit):
      guard let number = digit.wholeNumberValue, number <= panes.count else { return false }
      chosenFocus = panes[number - 1].name
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

  private mutating func moveFocus(_ step: Int) {
    guard let index = panes.firstIndex(where: { $0.name == focus }) else { return }
    chosenFocus = panes[(index + step + panes.count) % panes.count].name
  }

  private mutating func scroll(_ distance: Int) {
    guard let focus else { return }
    if let history = histories[focus] {
      let end = max(history.first + 1, (ends[focus] ?? history.end) + distance)
      ends[focus] = end < history.end ? end : nil
    } else {
      skipped[focus] = max(0, (skipped[focus] ?? 0) + distance)
    }
  }

  // MARK: Drawing

  package func picture(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    guard let parts else {
      grid.put("waiting for the room ...", .faint, row: 0, column: 0, width: columns)
      return grid
    }
    let head = ScreenText.headline(report?.room ?? "", parts, columns: columns, .full)
    let top = min(head.count, rows > 12 ? 2 : 1)
    for (row, line) in head.prefix(top).enumerated() {
      grid.put(line, row: row, column: 0, width: columns)
    }
    // A pane with nothing to show gives up its space.
    let drawn = panes.filter { hasContent($0, columns: columns) }
    let regions = regions(of: drawn, columns: columns, rows: rows - top)
    for region in regions { draw(drawn[region.pane], region, below: top, &grid) }
    Frames.draw(regions, below: top, &grid)
    return grid
  }

  private func regions(
    of panes: [ScreenParts.Pane], columns: Int, rows: Int
  ) -> [PaneLayout.Region] {
    if isZoomed, let pane = panes.firstIndex(where: { $0.name == focus }) {
      return [PaneLayout.Region(pane: pane, row: 0, column: 0, columns: columns, rows: rows)]
    }
    // The first pane has the whole width. Beside another one a pane has a little less than half of it.
    let half = columns < PaneLayout.pairs ? columns : columns * 4 / 9
    let needs = panes.enumerated().map { need(of: $1, columns: $0 == 0 ? columns : half) }
    return PaneLayout(needs, columns: columns, rows: rows).regions
  }

  private func hasContent(_ pane: ScreenParts.Pane, columns: Int) -> Bool {
    pane.scrolling != nil || !NodeDrawing(columns: columns).lines(pane.content).isEmpty
  }

  private func need(of pane: ScreenParts.Pane, columns: Int) -> PaneLayout.Need {
    let minimum = 1 + max(1, min(pane.panel.minimumRows, 100))
    if pane.scrolling != nil {
      return .init(priority: pane.panel.priority, minimumRows: minimum, usefulRows: nil)
    }
    let count = NodeDrawing(columns: columns).lines(pane.content).count
    let useful = 1 + max(1, min(count, pane.panel.usefulRows ?? count))
    return .init(
      priority: pane.panel.priority, minimumRows: min(minimum, useful), usefulRows: useful)
  }

  private func draw(
    _ pane: ScreenParts.Pane, _ region: PaneLayout.Region, below top: Int, _ grid: inout CellGrid
  ) {
    let row = top + region.row
    Frames.drawTitle(
      pane.title, hasFocus: pane.name == focus && panes.count > 1, row: row,
      column: region.column, width: region.columns, &grid)
    let lines = lines(pane, columns: region.columns, rows: region.rows - 1)
    for (index, line) in lines.enumerated() {
      grid.put(line, row: row + 1 + index, column: region.column, width: region.columns)
    }
  }

  private func lines(_ pane: ScreenParts.Pane, columns: Int, rows: Int) -> [StyledLine] {
    if let (before, list) = pane.scrolling {
      let history = histories[pane.name] ?? RowHistory()
      return scrolled(
        before, list, history, end: ends[pane.name] ?? history.end, columns: columns, rows: rows)
    }
    var lines = NodeDrawing(columns: columns).lines(pane.content)
    if lines.count > rows {
      lines = NodeDrawing(columns: columns, form: .compact).lines(pane.content)
    }
    lines.removeFirst(min(skipped[pane.name] ?? 0, max(0, lines.count - rows)))
    if lines.count > rows, rows > 1 {
      let hidden = lines.count - rows + 1
      lines = lines.prefix(rows - 1) + [StyledLine("… \(hidden) more", .faint)]
    }
    return Array(lines.prefix(rows))
  }

  /// The rows are what such a pane is for: they keep half of it.
  private func scrolled(
    _ before: ScreenNode, _ list: ScreenNode, _ history: RowHistory, end: Int, columns: Int,
    rows: Int
  ) -> [StyledLine] {
    let drawing = NodeDrawing(columns: columns)
    var head = drawing.lines(before)
    if history.end > end {
      let newer = "\(history.end - end) newer below; End shows them"
      head = [StyledLine(newer, .warning)] + head.dropFirst()
    }
    head = Array(head.prefix(max(1, rows / 2)))
    let free = max(0, rows - head.count)
    var body: [StyledLine] = []
    for row in history.rows.prefix(max(0, end - history.first)).reversed() {
      guard body.count < free else { break }
      body.insert(contentsOf: drawing.sentence(row), at: 0)
    }
    return head + body.suffix(free)
  }

  /// Where the room's events went, as much of it as fits a width.
  package func counters(columns: Int) -> StyledLine {
    guard let counters = report?.counters else { return StyledLine() }
    return StyledLine(ScreenText.events(counters) { TerminalText.width($0) <= columns }, .faint)
  }
}
