package import ControlInterface
package import JSON
import Wording

/// The screen of `watch` and of the demonstration. Shows either one room, which the user chooses
/// from a list, or several fixed rooms. Fixed rooms are side by side if the terminal is wide
/// enough.
package struct HostScreenModel: ScreenModel {
  package enum Update: Sendable {
    /// The screen of a room, at a time in monotonic nanoseconds.
    case screen(room: String, ScreenReport, at: UInt64)
    /// All rooms, at a time in monotonic nanoseconds.
    case rooms([RoomSummary], at: UInt64)
    case ended(room: String, reason: String)
    case connection(Bool)
    case outcome(Outcome)
  }

  package enum Request: Sendable, Equatable {
    /// Shows another room instead of the current one.
    case show(String)
    case call(Call)
  }

  /// A call that the user requested in a room.
  package struct Call: Sendable, Equatable {
    package var number: Int
    package var label: String
    package var method: String
    package var parameters: [JSONName: JSONValue]
  }

  package struct Outcome: Sendable {
    package var call: Call
    /// The reason why the call failed; `nil` if it succeeded.
    package var failure: String?

    package init(call: Call, failure: String? = nil) {
      self.call = call
      self.failure = failure
    }
  }

  private var isConnected = true
  private var displays: [String: RoomDisplay] = [:]
  /// The names of the rooms that the arrow keys cycle through.
  private var names: [String]
  private var current: String?
  /// The list of rooms to choose from; `nil` if the rooms are fixed.
  private var list: RoomListDisplay?
  private let shown: [String]
  private var showsHelp = false
  private var prompt: Prompt?
  private var searched = ""
  private var size = (columns: 80, rows: 24)

  private var requests: [Request] = []
  private var pending: [Call] = []
  private var calls = 0
  /// The message about the outcome of the last call; disappears when the user presses a key.
  private var notice: StyledLine?
  /// Levels that the user has set but that the daemon's screen does not show yet, by the identity
  /// of the gauge.
  private var levels: [String: (value: Double, since: UInt64?)] = [:]
  /// How long after the outcome of its call a level set by the user is still shown, in nanoseconds.
  private static let levelDelay: UInt64 = 500_000_000

  /// The columns that each room needs if rooms are shown side by side.
  package static let columnsPerRoom = 60
  /// The number of key presses that move a level from 0 to 1.
  private static let levelSteps = 20.0

  /// - Parameters:
  ///   - rooms: The names of the rooms; the first is shown first.
  ///   - shown: The names of the panes to show; empty means all.
  ///   - hasList: Whether the user can choose other rooms from a list, which is shown first if
  ///     `rooms` is empty.
  package init(rooms: [String], shown: [String] = [], hasList: Bool = false) {
    precondition(hasList || !rooms.isEmpty)
    names = rooms
    current = rooms.first
    list = hasList ? RoomListDisplay() : nil
    self.shown = shown
    for room in rooms { displays[room] = RoomDisplay(shown: shown) }
  }

  // MARK: Updates

  package mutating func apply(_ update: Update) {
    switch update {
    case .screen(let room, let screen, let time):
      displays[room]?.update(screen, at: time)
      for other in displays.keys where other != room { displays[other]?.settle(at: time) }
      if pending.isEmpty { settleLevels(at: time) }
    case .rooms(let rooms, let time):
      for name in displays.keys { displays[name]?.settle(at: time) }
      list?.update(rooms, at: time)
      names = list?.names ?? names
    case .ended(let room, let reason):
      displays[room] = nil
      if current == room { current = nil }
      notice = StyledLine(reason, .warning)
    case .connection(let isConnected): self.isConnected = isConnected
    case .outcome(let outcome): apply(outcome)
    }
  }

  /// Removes levels set by the user once the daemon's screen can be expected to show them. The
  /// first screen after an outcome may be older than the outcome, so levels are kept for
  /// ``levelDelay``.
  private mutating func settleLevels(at time: UInt64) {
    levels = levels.filter { _, level in
      level.since.map { time - min(time, $0) < Self.levelDelay } ?? true
    }
    levels = levels.mapValues { ($0.value, $0.since ?? time) }
  }

  private mutating func apply(_ outcome: Outcome) {
    pending.removeAll { $0.number == outcome.call.number }
    if let failure = outcome.failure {
      levels = [:]
      notice = StyledLine("\(outcome.call.label): \(failure)", .bad)
    } else {
      notice = StyledLine("\(outcome.call.label): done", .good)
    }
  }

  package mutating func resize(columns: Int, rows: Int) {
    size = (columns, rows)
    let width = columnsOfRooms(columns).first?.width ?? columns
    for name in displays.keys { displays[name]?.size = (width, max(0, rows - 1)) }
  }

  package mutating func removeRequests() -> [Request] {
    defer { requests = [] }
    return requests
  }

  // MARK: Keys

  private var display: RoomDisplay? { current.flatMap { displays[$0] } }

  package mutating func press(_ key: Key) -> Bool {
    if showsHelp {
      showsHelp = false
      return key != .character("q")
    }
    if prompt != nil {
      type(key)
      return true
    }
    notice = nil
    switch key {
    case .click(let row, let column): click(row: row, column: column)
    case .wheel(let rows, let row, let column):
      if current == nil {
        list?.move(rows.signum())
      } else if let (name, start) = room(at: column) {
        displays[name]?.turnWheel(rows, row: row, column: column - start)
      }
    case .character("q"): return false
    case .character("?"), .character("h"): showsHelp = true
    case .character("/"):
      prompt =
        current == nil
        ? Prompt(purpose: .filter, label: "rooms with: ")
        : Prompt(purpose: .search, label: "search: ")
    default:
      if current == nil { pressInList(key) } else { pressInRoom(key) }
    }
    return true
  }

  /// Returns the room at a column, and the room's first column.
  private func room(at column: Int) -> (name: String, start: Int)? {
    let rooms = columnsOfRooms(size.columns)
    guard rooms.count > 1 else { return current.map { ($0, 0) } }
    return Array(zip(names, rooms)).last { $0.1.start <= column }.map { ($0.0, $0.1.start) }
  }

  /// Selects the element at a position; if it is already selected, performs its host action. In the
  /// bottom line, performs the host action whose label is at the position.
  private mutating func click(row: Int, column: Int) {
    guard row < size.rows - 1 else { return clickFoot(row: row, column: column) }
    if current == nil {
      let picture = pictureWithTargets(columns: size.columns, rows: size.rows)
      guard column < picture.columns, let room = picture[row, column].style.target else { return }
      if list?.choice == room { show(room) } else { list?.choose(room) }
    } else if let (name, start) = room(at: column) {
      current = name
      let wasSelected = displays[name]?.click(row: row, column: column - start) ?? false
      if wasSelected, let target = display?.selected { _ = act(.enter, on: target) }
    }
  }

  private mutating func clickFoot(row: Int, column: Int) {
    let picture = pictureWithTargets(columns: size.columns, rows: size.rows)
    guard row < picture.rows, column < picture.columns, let target = display?.selected,
      let number = picture[row, column].style.target.flatMap({ Int($0) }),
      target.acts.indices.contains(number)
    else { return }
    begin(target.acts[number], on: target)
  }

  private mutating func pressInList(_ key: Key) {
    switch key {
    case .up, .character("k"): list?.move(-1)
    case .down, .character("j"): list?.move(1)
    case .pageUp: list?.move(-10)
    case .pageDown: list?.move(10)
    case .home, .character("g"): list?.move(-.max / 2)
    case .end, .character("G"): list?.move(.max / 2)
    case .escape: list?.filter("")
    case .enter, .right: if let room = list?.choice { show(room) }
    default: break
    }
  }

  private mutating func show(_ room: String) {
    current = room
    if displays[room] == nil {
      displays[room] = RoomDisplay(shown: shown)
      displays[room]?.size = (size.columns, max(0, size.rows - 1))
    }
    list?.choose(room)
    if list != nil { requests.append(.show(room)) }
  }

  private mutating func pressInRoom(_ key: Key) {
    guard let current else { return }
    if let target = display?.selected, act(key, on: target) { return }
    switch key {
    case .right: showNext(1)
    case .left: showNext(-1)
    case .character("n") where !searched.isEmpty: search(-1)
    case .character("N") where !searched.isEmpty: search(1)
    case .enter: _ = displays[current]?.press(.character("z"))
    default:
      let isTaken = displays[current]?.press(key) ?? false
      if !isTaken, key == .escape || key == .backspace, list != nil { self.current = nil }
    }
  }

  private mutating func showNext(_ step: Int) {
    guard let current, let index = names.firstIndex(of: current) else { return }
    let next = names[(index + step + names.count) % names.count]
    if next != current { show(next) }
  }

  // MARK: Acting

  /// Performs the target's host action for a key. Returns whether the target has a host action for
  /// this key.
  private mutating func act(_ key: Key, on target: ActTarget) -> Bool {
    let level = target.acts.first { $0.input == .level }
    switch key {
    case .character("+"), .character("="), .character("-"):
      guard let level else { return false }
      let steps = ((levels[target.identity]?.value ?? target.level ?? 0) * Self.levelSteps)
        .rounded()
      let value = steps + (key == .character("-") ? -1 : 1)
      set(level, of: target, to: value / Self.levelSteps)
    case .enter:
      guard let act = target.acts.first else { return false }
      begin(act, on: target)
    case .character(let letter):
      guard let act = target.keys.first(where: { $0.key == letter })?.act else { return false }
      begin(act, on: target)
    default: return false
    }
    return true
  }

  private mutating func begin(_ act: ScreenAct, on target: ActTarget) {
    if let input = Prompt.input(for: act, on: target) {
      prompt = input
    } else {
      perform(act, on: target)
    }
  }

  /// Performs a host action with the value that the user entered, or first asks for confirmation.
  private mutating func perform(
    _ act: ScreenAct, on target: ActTarget, _ value: JSONValue? = nil
  ) {
    if act.confirms == true {
      prompt = .confirmation(of: act, on: target, value)
    } else {
      call(act, target.parameters(act, value))
    }
  }

  private mutating func set(_ act: ScreenAct, of target: ActTarget, to value: Double) {
    let value = min(max(value, 0), 1)
    levels[target.identity] = (value, nil)
    call(act, target.parameters(act, .number(value)))
  }

  private mutating func call(_ act: ScreenAct, _ parameters: [JSONName: JSONValue]) {
    guard let current else { return }
    var parameters = parameters
    parameters["room"] = .string(current)
    calls += 1
    let call = Call(
      number: calls, label: TerminalText.sanitized(act.label), method: act.method,
      parameters: parameters)
    pending.append(call)
    requests.append(.call(call))
  }

  // MARK: Typing

  private mutating func type(_ key: Key) {
    if case .confirmation(let target, let act, let value)? = prompt?.purpose {
      return answer(key, act, on: target, value)
    }
    switch key {
    case .escape: prompt = nil
    case .backspace: _ = prompt?.text.popLast()
    case .character(let character): prompt?.text.append(character)
    case .enter:
      guard let prompt else { return }
      self.prompt = nil
      finish(prompt)
    default: break
    }
  }

  private mutating func answer(
    _ key: Key, _ act: ScreenAct, on target: ActTarget, _ value: JSONValue?
  ) {
    switch key {
    case .character("y"), .character("Y"):
      prompt = nil
      call(act, target.parameters(act, value))
    case .character("n"), .character("N"), .escape: prompt = nil
    // Any other key might be meant for something else, so it neither confirms nor cancels.
    default: break
    }
  }

  private mutating func finish(_ prompt: Prompt) {
    switch prompt.purpose {
    case .filter: list?.filter(prompt.text)
    case .search:
      searched = prompt.text
      if !searched.isEmpty { search(-1) }
    case .input(let target, let act) where act.input == .level:
      let digits = prompt.text.last == "%" ? prompt.text.dropLast() : prompt.text[...]
      guard let percent = Double(digits), (0...100).contains(percent) else {
        notice = StyledLine("enter a number from 0 to 100", .bad)
        return
      }
      set(act, of: target, to: percent / 100)
    case .input(let target, let act):
      perform(act, on: target, .string(prompt.text))
    // A question is answered by a single key.
    case .confirmation: break
    }
  }

  private mutating func search(_ step: Int) {
    guard let current, displays[current]?.find(searched, step) == false else { return }
    let text = TerminalText.sanitized(searched)
    notice = StyledLine("no \(step < 0 ? "earlier" : "later") message with \"\(text)\"", .warning)
  }

  // MARK: Drawing

  package func picture(columns: Int, rows: Int) -> CellGrid {
    pictureWithTargets(columns: columns, rows: rows).withoutTargets
  }

  private func pictureWithTargets(columns: Int, rows: Int) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    guard columns >= 20, rows >= 5 else {
      grid.put("too small: 20 x 5", row: 0, column: 0, width: columns)
      return grid
    }
    if showsHelp {
      drawHelp(&grid)
      return grid
    }
    for (start, width, display) in columnsOfRooms(columns) {
      grid.put(display.picture(columns: width, rows: rows - 1), row: 0, column: start)
      for row in 0..<rows - 1 where start > 0 {
        grid.put("\u{2503}", .faint, row: row, column: start - 1, width: 1)
      }
    }
    if current == nil, let list {
      grid.put(list.picture(columns: columns, rows: rows - 1), row: 0, column: 0)
    }
    drawFoot(&grid)
    return grid
  }

  /// Returns the columns of each visible room. Fixed rooms are side by side if there is enough
  /// space; otherwise only the current room is visible.
  private func columnsOfRooms(_ columns: Int) -> [(start: Int, width: Int, RoomDisplay)] {
    guard let display else { return [] }
    let width = (columns - (names.count - 1)) / max(1, names.count)
    guard list == nil, names.count > 1, width >= Self.columnsPerRoom, !display.isZoomed else {
      return [(0, columns, display)]
    }
    return names.enumerated().compactMap { index, name in
      displays[name].map { (index * (width + 1), width, $0) }
    }
  }

  private func drawFoot(_ grid: inout CellGrid) {
    let row = grid.rows - 1
    if let prompt {
      grid.put(prompt.line, row: row, column: 0, width: grid.columns)
      return
    }
    let target = display?.selected
    var keys = StyledLine()
    if display?.isPaused == true { keys.append("PAUSED ", .warning) }
    if list == nil, names.count > 1 {
      for name in names {
        keys.append(
          " \(TerminalText.sanitized(name)) ", TextStyle(reversed: name == current))
      }
      keys.append("  ")
    }
    keys.append(hints(hasTarget: target != nil, columns: grid.columns - keys.width), .faint)
    let column = max(0, grid.columns - keys.width)
    let width = max(0, column - 2)
    grid.put(state(target), row: row, column: 0, width: width)
    grid.put(keys, row: row, column: column, width: grid.columns - column)
  }

  private func hints(hasTarget: Bool, columns: Int) -> String {
    var hints: [String] = []
    if current == nil {
      hints = ["Enter open", "/ find"]
    } else if columns >= 70 {
      if !hasTarget, display?.canSelect == true { hints.append("Up, Down select") }
      if list != nil { hints.append(hasTarget ? "Esc done" : "Esc rooms") }
      hints.append("/ search")
    }
    return (hints + ["? help", "q quit"]).joined(separator: "  ")
  }

  /// Returns the most important message: a problem, pending calls, possible host actions, or event
  /// counts.
  private func state(_ target: ActTarget?) -> StyledLine {
    if !isConnected { return StyledLine(ScreenText.awayNotice, .warning) }
    if let notice { return notice }
    var line = StyledLine()
    if let call = pending.last { line.append("\(call.label) ...", .warning) }
    guard let target else {
      return pending.isEmpty ? display?.counts ?? StyledLine() : line
    }
    for (number, (key, act)) in target.keys.enumerated() {
      line.append(line.width > 0 ? "  " : "")
      let label = StyledLine([
        ("\(key) ", .strong), (TerminalText.sanitized(act.label), .plain),
      ])
      // The number of the host action, for clicks.
      line = line + label.targeting("\(number)")
      if act.input == .level {
        line.append("  +- ", .strong)
        line.append("change")
      }
    }
    return line
  }

  private func drawHelp(_ grid: inout CellGrid) {
    KeyHelp.draw(
      KeyHelp.keys(hasList: list != nil, rooms: names.count, selected: display?.selected),
      note: "Press any key to go back. All viewers share filters, threads and cards.", &grid)
  }
}
