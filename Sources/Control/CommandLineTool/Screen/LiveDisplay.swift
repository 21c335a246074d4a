/// Draws text again and again: in place on a terminal, one block after the other elsewhere.
///
/// The terminal's alternate screen is used, so that the terminal is as before in the end.
struct LiveDisplay {
  private let console: Console
  private var isOpen = false
  private var last: [String] = []

  init(_ console: Console) { self.console = console }

  /// - Parameter lines: Makes the text for a size; without a number of rows there is no limit.
  mutating func draw(_ lines: (_ columns: Int, _ rows: Int?) -> [String]) throws {
    guard console.isOutputTerminal else {
      let text = lines(console.size().columns, nil)
      if text != last { try console.writeLine((text + [""]).joined(separator: "\n")) }
      last = text
      return
    }
    let size = console.size()
    let text = Array(lines(size.columns, size.rows).prefix(size.rows))
    var output = isOpen ? "" : "\u{1B}[?1049h\u{1B}[?25l"
    isOpen = true
    output += "\u{1B}[H"
    // Each line clears what is left of the old one, so that nothing flickers.
    output += text.map { TerminalText.fitted($0, width: size.columns) + "\u{1B}[K" }
      .joined(separator: "\r\n")
    output += "\u{1B}[J"
    try console.write(Array(output.utf8))
  }

  /// Gives the terminal back as it was.
  mutating func close() {
    guard isOpen else { return }
    isOpen = false
    try? console.write(Array("\u{1B}[?25h\u{1B}[?1049l".utf8))
  }
}
