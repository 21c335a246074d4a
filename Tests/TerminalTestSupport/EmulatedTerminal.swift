import Synchronization
package import TerminalScreen

/// A terminal emulator with the functions that screens use. The emulator shows the result of the
/// received bytes.
package struct TerminalPicture {
  package private(set) var rows: [[Character]]
  package private(set) var isAlternate = false
  package private(set) var isCursorShown = true
  /// The received sequences that the emulator does not know. Screens must send none.
  package private(set) var unknown: [String] = []
  private var row = 0
  private var column = 0
  private var region: Range<Int>

  package init(columns: Int, rows: Int) {
    self.rows = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    region = 0..<rows
  }

  /// The rows as text, without trailing spaces.
  package var lines: [String] {
    rows.map { row in
      var text = String(row.filter { $0 != "\0" })
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  package mutating func write(_ bytes: [UInt8]) {
    var text = String(decoding: bytes, as: UTF8.self)[...]
    while let character = text.first {
      text = text.dropFirst()
      guard character == "\u{1B}" else {
        put(character)
        continue
      }
      let end = text.dropFirst().firstIndex { $0.isLetter } ?? text.startIndex
      run(text[text.startIndex...end])
      text = text[text.index(after: end)...]
    }
  }

  private mutating func put(_ character: Character) {
    let width = TerminalText.width(of: character)
    guard column + width <= rows[row].count else {
      unknown.append("a character beyond the end of row \(row)")
      return
    }
    // Overwriting one half of a wide character also removes the other half.
    if rows[row][column] == "\0", column > 0 { rows[row][column - 1] = " " }
    rows[row][column] = character
    if width == 2 { rows[row][column + 1] = "\0" }
    column += width
    if column < rows[row].count, rows[row][column] == "\0" { rows[row][column] = " " }
  }

  private mutating func run(_ sequence: Substring) {
    let parameters = sequence.dropFirst().dropLast()
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    switch (sequence.last, parameters) {
    case ("H", _):
      row = (numbers.first ?? 1) - 1
      column = (numbers.count > 1 ? numbers[1] : 1) - 1
    case ("K", ""):
      for place in column..<rows[row].count { rows[row][place] = " " }
    case ("J", "2"):
      for row in rows.indices { rows[row] = rows[row].map { _ in " " } }
    case ("m", _): break
    case ("r", ""): region = 0..<rows.count
    case ("r", _): region = numbers[0] - 1..<numbers[1]
    case ("S", _):
      for _ in 0..<numbers[0] {
        rows.remove(at: region.lowerBound)
        rows.insert(
          Array(repeating: " ", count: rows[0].count), at: region.upperBound - 1)
      }
    case ("h", "?1049"): isAlternate = true
    case ("l", "?1049"): isAlternate = false
    case ("h", "?25"): isCursorShown = true
    case ("l", "?25"): isCursorShown = false
    default: unknown.append(String(sequence))
    }
  }
}

/// A terminal for tests: stores the output and supplies key presses.
package final class EmulatedTerminal: Sendable {
  private struct State {
    var picture: TerminalPicture
    var size: (columns: Int, rows: Int)
    var bytes = 0
    var ends = 0
    var inputs: AsyncStream<Terminal.Input>.Continuation?
  }

  private let state: Mutex<State>
  /// Yields after each drawing.
  package let drawings: AsyncStream<Void>
  private let drawn: AsyncStream<Void>.Continuation

  package init(columns: Int, rows: Int) {
    state = Mutex(
      State(picture: TerminalPicture(columns: columns, rows: rows), size: (columns, rows)))
    (drawings, drawn) = AsyncStream.makeStream()
  }

  package var lines: [String] { state.withLock(\.picture.lines) }
  package var unknown: [String] { state.withLock(\.picture.unknown) }
  package var bytesDrawn: Int { state.withLock(\.bytes) }
  /// The number of times that the terminal was restored.
  package var ends: Int { state.withLock(\.ends) }

  package func send(_ input: Terminal.Input) { state.withLock { _ = $0.inputs?.yield(input) } }
  package func type(_ text: String) { send(.typed(Array(text.utf8))) }

  package func resize(columns: Int, rows: Int) {
    state.withLock { state in
      state.size = (columns, rows)
      state.picture = TerminalPicture(columns: columns, rows: rows)
    }
    send(.resized)
  }

  /// Waits until the terminal shows something.
  package func wait(until isTrue: ([String]) -> Bool) async {
    if isTrue(lines) { return }
    for await _ in drawings where isTrue(lines) { return }
  }

  package func console(_ capture: Capture) -> Console {
    let terminal = Terminal(
      begin: {
        let (stream, continuation) = AsyncStream.makeStream(of: Terminal.Input.self)
        self.state.withLock { $0.inputs = continuation }
        return stream
      },
      write: { bytes in
        self.state.withLock { state in
          state.picture.write(bytes)
          state.bytes += bytes.count
        }
        self.drawn.yield()
      },
      end: { self.state.withLock { $0.ends += 1 } })
    var console = capture.console()
    console.isOutputTerminal = true
    console.terminal = terminal
    console.size = { self.state.withLock(\.size) }
    return console
  }
}

extension CellGrid {
  /// Returns the text of a row without styles and trailing spaces.
  package func text(row: Int) -> String {
    var text = String(self.row(row).filter { $0.width > 0 }.map(\.character))
    while text.last == " " { text.removeLast() }
    return text
  }
}
