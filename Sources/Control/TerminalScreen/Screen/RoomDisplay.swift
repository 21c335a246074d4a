package import ControlInterface
import Wording

/// A room on a terminal: its panes, the focus, the scroll position of each pane, and the selection.
package struct RoomDisplay: Sendable {
  private var newest: (report: ScreenReport, parts: ScreenParts)?
  /// The content as drawn: the newest content, except that figures may be up to a second old.
  private var parts: ScreenParts?
  private var counters: Counters?
  /// The time at which figures last changed, in monotonic nanoseconds.
  private var figuresChanged: UInt64?
  /// The newest report that arrived while the screen was paused.
  private var newer: (report: ScreenReport, time: UInt64)?
  /// The names of the panes to show; empty means all.
  private let shown: [String]

  private var chosenFocus: String?
  package private(set) var isZoomed = false
  package private(set) var isPaused = false
  package var size: (columns: Int, rows: Int) = (80, 23)
  /// The rows of scrolling lists, by the name of the pane.
  private var histories: [String: RowHistory] = [:]
  /// For each pane, the number after the last visible row; absent if the list follows the newest
  /// row.
  private var ends: [String: Int] = [:]
  /// For each list that follows the newest row, the number after the last visible row, and the time
  /// of the last change in monotonic nanoseconds.
  private var followed: [String: (end: Int, time: UInt64)] = [:]
  /// The number of lines scrolled off the top of panes without a scrolling list.
  private var skipped: [String: Int] = [:]
  /// The selection, by pane. The index determines the new selection if the selected element
  /// disappears.
  private var selections: [String: (identity: String, index: Int)] = [:]

  /// The name under which the area above the panes has the focus.
  private static let headline = "headline"

  package init(shown: [String] = []) { self.shown = shown }

  /// - Parameter time: the current time in monotonic nanoseconds.
  package mutating func update(_ report: ScreenReport, at time: UInt64) {
    if isPaused {
      newer = (report, time)
    } else {
      show(report, at: time)
    }
  }

  /// The rate, in rows per second, up to which people can read moving rows. If rows arrive faster,
  /// they are shown together, once per second.
  private static let calmRate = 10.0
  /// The number of seconds after which rows and figures that were held back are shown.
  private static let calmInterval = 0.95

  /// Shows rows and figures that have arrived. If they arrive faster than people can read, they are
  /// held back and then shown together.
  ///
  /// Must be called at least once per second, because after the last update of a burst no further
  /// update shows the rows that were held back.
  package mutating func settle(at time: UInt64) {
    guard !isPaused else { return }
    settleRows(at: time)
    settleFigures(at: time)
  }

  /// Updates all figures together. Words, colours, and levels that users can move are updated
  /// immediately.
  private mutating func settleFigures(at time: UInt64) {
    guard let newest else { return }
    if let parts, let figuresChanged,
      Double(time - min(time, figuresChanged)) / 1e9 < Self.calmInterval
    {
      self.parts = newest.parts.keepingFigures(of: parts)
      return
    }
    // The first report does not count as a change of figures.
    if parts != nil, parts != newest.parts || counters != newest.report.counters {
      figuresChanged = time
    }
    (parts, counters) = (newest.parts, newest.report.counters)
  }

  private mutating func settleRows(at time: UInt64) {
    for (name, history) in histories {
      guard let last = followed[name] else {
        followed[name] = (history.end, time)
        continue
      }
      let seconds = Double(time - min(time, last.time)) / 1e9
      let count = history.end - last.end
      if count < 0 || seconds >= Self.calmInterval || Double(count) <= Self.calmRate * seconds {
        // If there are no new rows, the time of the last change is kept, so that a single row after
        // a pause is shown immediately.
        if count != 0 { followed[name] = (history.end, time) }
      }
    }
  }

  private mutating func show(_ report: ScreenReport, at time: UInt64) {
    let parts = ScreenParts(report, shown: shown)
    for pane in parts.panes {
      guard let list = pane.scrolling?.list else { continue }
      let isSame = histories[pane.name, default: RowHistory()].merge(list)
      if !isSame { (ends[pane.name], followed[pane.name]) = (nil, nil) }
    }
    newest = (report, parts)
    settle(at: time)
  }

  private var panes: [ScreenParts.Pane] { parts?.panes ?? [] }

  /// The focused pane: the pane that the user chose, or else the first with a scrolling list.
  private var focus: String? {
    if chosenFocus == Self.headline { return chosenFocus }
    if let chosenFocus, panes.contains(where: { $0.name == chosenFocus }) { return chosenFocus }
    return (panes.first { $0.scrolling != nil } ?? panes.first)?.name
  }

  // MARK: Keys

  /// Applies a key. Returns whether the key has a function in a room.
  package mutating func press(_ key: Key) -> Bool {
    switch key {
    case .tab, .backTab: moveFocus(key == .tab ? 1 : -1)
    case .character("z"): isZoomed.toggle()
    case .escape where isSelecting: deselect()
    case .escape where isZoomed: isZoomed = false
    case .character(" "):
      isPaused.toggle()
      if !isPaused, let newer { show(newer.report, at: newer.time) }
      newer = nil
    case .character(let digit) where ("1"..."9").contains(digit):
      guard let number = digit.wholeNumberValue, number <= panes.count else { return false }
      chosenFocus = panes[number - 1].name
    case .character("0"): chosenFocus = Self.headline
    case .up, .character("k"): move(-1)
    case .down, .character("j"): move(1)
    case .pageUp: scroll(-10)
    case .pageDown: scroll(10)
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

  // MARK: Selecting

  /// Returns the selectable elements of the focused pane that are above its scrolling list, and the
  /// list itself.
  private func selectable() -> (head: [ActTarget], list: ScreenNode?) {
    guard let focus, let parts else { return ([], nil) }
    if focus == Self.headline { return (parts.headline.flatMap(ActTarget.all), nil) }
    guard let pane = panes.first(where: { $0.name == focus }) else { return ([], nil) }
    guard let (before, list) = pane.scrolling else { return (ActTarget.all(in: pane.content), nil) }
    return (ActTarget.all(in: before), list)
  }

  private var isSelecting: Bool { focus.map { selections[$0] != nil } ?? false }

  package var canSelect: Bool {
    let (head, list) = selectable()
    return !head.isEmpty || list?.rowActs.isEmpty == false
  }

  /// The selection in the focused pane. If an element above a list was selected and has
  /// disappeared, this is the element that is now at its position. If a row of the list was
  /// selected and has disappeared, this is nil.
  package var selected: ActTarget? {
    guard let focus, let selection = selections[focus] else { return nil }
    let (head, list) = selectable()
    if let target = head.first(where: { $0.identity == selection.identity }) { return target }
    if let list {
      let rows = histories[focus]?.rows ?? []
      guard let row = rows.last(where: { Self.identity($0) == selection.identity }) else {
        return nil
      }
      return list.rowTarget(row) ?? ActTarget(identity: selection.identity, acts: [])
    }
    return head.isEmpty ? nil : head[min(selection.index, head.count - 1)]
  }

  private static func identity(_ row: ScreenNode) -> String? { row.id.map(ScreenNode.rowIdentity) }

  private mutating func deselect() {
    guard let focus else { return }
    selections[focus] = nil
    ends[focus] = nil
    followToEnd(focus)
  }

  /// Shows the newest rows immediately, because the user asked for them.
  private mutating func followToEnd(_ pane: String) {
    if let end = histories[pane]?.end { followed[pane]?.end = end }
  }

  /// Selects the previous or next element; scrolls if the pane has no selectable element.
  private mutating func move(_ step: Int) {
    guard let focus, canSelect else { return scroll(step) }
    let (head, list) = selectable()
    let rows = list?.rowActs.isEmpty == false ? histories[focus]?.rows ?? [] : []
    let count = head.count + rows.count
    guard let selected else { return select(step < 0 ? count - 1 : 0, head, rows) }
    let index =
      head.firstIndex { $0.identity == selected.identity }
      ?? rows.lastIndex { Self.identity($0) == selected.identity }.map { $0 + head.count } ?? 0
    // If the selection moves below the newest row, the pane follows the newest row again.
    if !rows.isEmpty, index + step == count { return deselect() }
    select(min(max(index + step, 0), count - 1), head, rows)
  }

  private mutating func select(_ index: Int, _ head: [ActTarget], _ rows: [ScreenNode]) {
    guard let focus, index >= 0 else { return }
    if index < head.count {
      selections[focus] = (head[index].identity, index)
    } else if index - head.count < rows.count,
      let identity = Self.identity(rows[index - head.count])
    {
      selections[focus] = (identity, index)
      // While a row is selected, the list does not follow the newest row, so that users can read
      // it.
      ends[focus] = ends[focus] ?? histories[focus]?.end
    }
  }

  /// Selects the nearest row of the scrolling list that contains a text, regardless of case.
  /// Searches older rows if `step` is -1, and newer rows if `step` is 1. Returns whether there is
  /// such a row.
  package mutating func find(_ text: String, _ step: Int) -> Bool {
    let candidates = panes.filter { $0.scrolling != nil }
    guard let pane = candidates.first(where: { $0.name == focus }) ?? candidates.first else {
      return false
    }
    let rows = histories[pane.name]?.rows ?? []
    let current = selections[pane.name].flatMap { selection in
      rows.lastIndex { Self.identity($0) == selection.identity }
    }
    let query = text.lowercased()
    let drawing = NodeDrawing(columns: .max, form: .plain)
    var index = current.map { $0 + step } ?? rows.count - 1
    while rows.indices.contains(index) {
      let words = drawing.sentence(rows[index]).map(\.text).joined(separator: " ")
      if words.lowercased().contains(query) {
        chosenFocus = pane.name
        select(index, [], rows)
        return true
      }
      index += step
    }
    return false
  }

  // MARK: Mouse

  /// Focuses the pane at a position; returns `false` if no pane is there.
  private mutating func focus(row: Int, column: Int) -> Bool {
    let (drawn, regions, top) = layout(columns: size.columns, rows: size.rows)
    if row < top {
      chosenFocus = Self.headline
      return true
    }
    let region = regions.first {
      ($0.row..<$0.row + $0.rows).contains(row - top)
        && ($0.column..<$0.column + $0.columns).contains(column)
    }
    guard let region else { return false }
    chosenFocus = drawn[region.pane].name
    return true
  }

  /// Selects the element at a position. Returns whether it was already selected.
  package mutating func click(row: Int, column: Int) -> Bool {
    guard focus(row: row, column: column), let focus else { return false }
    let picture = picture(columns: size.columns, rows: size.rows)
    guard row < picture.rows, column < picture.columns else { return false }
    guard let target = picture[row, column].style.target else {
      deselect()
      return false
    }
    if selected?.identity == target { return true }
    selections[focus] = (target, 0)
    if let history = histories[focus] { ends[focus] = ends[focus] ?? history.end }
    return false
  }

  package mutating func turnWheel(_ rows: Int, row: Int, column: Int) {
    if focus(row: row, column: column) { scroll(rows) }
  }

  // MARK: Scrolling

  private mutating func scroll(_ distance: Int) {
    guard let focus else { return }
    if let history = histories[focus] {
      var end = ends[focus] ?? history.end
      // At the beginning of a list, a full page is shown although `end` is smaller, so scrolling
      // down starts from the end of that page.
      if distance > 0 { end = max(end, history.first + pageRows) }
      end = max(history.first + 1, end + distance)
      ends[focus] = end < history.end ? end : nil
      selections[focus] = nil
      if ends[focus] == nil { followToEnd(focus) }
    } else {
      skipped[focus] = max(0, (skipped[focus] ?? 0) + distance)
    }
  }

  /// The number of list rows that the focused pane shows if each row takes one line.
  private var pageRows: Int {
    let (drawn, regions, _) = layout(columns: size.columns, rows: size.rows)
    guard let index = drawn.firstIndex(where: { $0.name == focus }),
      let region = regions.first(where: { $0.pane == index }),
      let (before, _) = drawn[index].scrolling
    else { return 0 }
    return max(0, region.rows - 1 - NodeDrawing(columns: region.columns).lines(before).count)
  }

  /// Returns the panes that have content, the regions of these panes, and the number of rows above
  /// the panes.
  private func layout(
    columns: Int, rows: Int
  ) -> (drawn: [ScreenParts.Pane], regions: [PaneLayout.Region], top: Int) {
    guard let parts else { return ([], [], 0) }
    let head = ScreenText.headline(newest?.report.room ?? "", parts, columns: columns, .full)
    let top = min(head.count, rows > 12 ? 2 : 1)
    // Panes without content take no space.
    let drawn = panes.filter { hasContent($0, columns: columns, rows: rows) }
    return (drawn, regions(of: drawn, columns: columns, rows: rows - top), top)
  }

  // MARK: Drawing

  package func picture(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    guard let parts else {
      grid.put("waiting for the room ...", .faint, row: 0, column: 0, width: columns)
      return grid
    }
    let head = ScreenText.headline(newest?.report.room ?? "", parts, columns: columns, .full)
    let (drawn, regions, top) = layout(columns: columns, rows: rows)
    for (row, line) in head.prefix(top).enumerated() {
      grid.put(line, row: row, column: 0, width: columns)
    }
    if focus == Self.headline, let selected {
      grid.select(selected.identity, rows: 0..<top, columns: 0..<columns)
    }
    for region in regions { draw(drawn[region.pane], region, below: top, &grid) }
    PaneFrames.draw(regions, below: top, &grid)
    return grid
  }

  private func regions(
    of panes: [ScreenParts.Pane], columns: Int, rows: Int
  ) -> [PaneLayout.Region] {
    if isZoomed, let pane = panes.firstIndex(where: { $0.name == focus }) {
      return [PaneLayout.Region(pane: pane, row: 0, column: 0, columns: columns, rows: rows)]
    }
    // The first pane has the full width; a pane beside another one has a little less than half of
    // it.
    let half = columns < PaneLayout.pairs ? columns : columns * 4 / 9
    let needs = panes.enumerated().map { need(of: $1, columns: $0 == 0 ? columns : half) }
    return PaneLayout(needs, columns: columns, rows: rows).regions
  }

  /// The smallest height of a screen at which a pane that contains only labels of host actions is
  /// shown.
  private static let spacious = 28

  private func hasContent(_ pane: ScreenParts.Pane, columns: Int, rows: Int) -> Bool {
    // The plain form omits host actions, so a pane that contains nothing else has no content.
    let offers = rows >= Self.spacious || pane.name == focus
    return pane.scrolling != nil
      || !NodeDrawing(columns: columns, form: offers ? .full : .plain).lines(pane.content).isEmpty
  }

  private func need(of pane: ScreenParts.Pane, columns: Int) -> PaneLayout.SpaceNeed {
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
    PaneFrames.drawTitle(
      pane.title, hasFocus: pane.name == focus && panes.count > 1, row: row,
      column: region.column, width: region.columns, &grid)
    let lines = lines(pane, columns: region.columns, rows: region.rows - 1)
    for (index, line) in lines.enumerated() {
      grid.put(line, row: row + 1 + index, column: region.column, width: region.columns)
    }
    if pane.name == focus, let selected {
      grid.select(
        selected.identity, rows: row..<row + region.rows,
        columns: region.column..<region.column + region.columns)
    }
  }

  private func lines(_ pane: ScreenParts.Pane, columns: Int, rows: Int) -> [StyledLine] {
    if let (before, _) = pane.scrolling {
      let history = histories[pane.name] ?? RowHistory()
      let identity = selections[pane.name]?.identity
      let cursor = identity.flatMap { identity in
        history.rows.lastIndex { Self.identity($0) == identity }
      }
      return scrolled(
        before, history, end: ends[pane.name] ?? followed[pane.name]?.end ?? history.end,
        isHeld: ends[pane.name] != nil,
        cursor: cursor.map { $0 + history.first }, columns: columns, rows: rows)
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

  /// Returns the lines of a pane with a scrolling list. The list gets at least half of the lines.
  ///
  /// - Parameters:
  ///   - end: the number after the last row to show.
  ///   - isHeld: whether the user has scrolled to this position, so that the list does not follow
  ///     the newest row.
  ///   - cursor: the number of the selected row, which is always shown.
  private func scrolled(
    _ before: ScreenNode, _ history: RowHistory, end: Int, isHeld: Bool, cursor: Int?, columns: Int,
    rows: Int
  ) -> [StyledLine] {
    let drawing = NodeDrawing(columns: columns)
    var head = drawing.lines(before)
    if isHeld, history.end > end {
      let newer = "\(history.end - end) newer below; End shows them"
      head = [StyledLine(newer, .warning)] + head.dropFirst()
    }
    head = Array(head.prefix(max(1, rows / 2)))
    let free = max(0, rows - head.count)
    var body: [StyledLine] = []
    let end = max(end, cursor.map { $0 + 1 } ?? end)
    var first = end
    for row in history.rows.prefix(max(0, end - history.first)).reversed() {
      guard body.count < free else { break }
      body.insert(contentsOf: drawing.selectable(row), at: 0)
      first -= 1
    }
    let isAtStart = first <= history.first && body.count < free
    let start = cursor.flatMap { $0 < first || $0 == first && body.count > free ? $0 : nil }
    guard let start = start ?? (isAtStart ? history.first : nil) else {
      return head + body.suffix(free)
    }
    // The page begins with the selected row, or with the first row of the list.
    body = []
    for row in history.rows.dropFirst(start - history.first) {
      guard body.count < free else { break }
      body += drawing.selectable(row)
    }
    return head + body.prefix(free)
  }

  /// The numbers of events received and rejected. All other counts are printed only by the verb
  /// `show`.
  var counts: StyledLine {
    guard let counters else { return StyledLine() }
    let rejected =
      counters.rejected > 0 ? ", \(Format.count(counters.rejected)) rejected" : ""
    return StyledLine(Format.count(counters.received, "event") + rejected, .faint)
  }
}
