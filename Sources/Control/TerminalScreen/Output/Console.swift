/// The program's standard input and output channels and their properties. Text goes to standard
/// output, diagnostics go to standard error.
package struct Console: Sendable {
  /// Writes all bytes; throws if the reader has closed the output.
  package var write: @Sendable ([UInt8]) throws -> Void
  /// Writes a diagnostic verbatim, including its line ending. Never fails.
  package var diagnose: @Sendable (String) -> Void
  package var isOutputTerminal: Bool
  package var isDiagnosticsTerminal: Bool
  /// The colours that text on standard output may use.
  package var palette: TextStyle.Palette
  /// Whether lines and blocks may be drawn with non-ASCII characters.
  package var usesUnicode: Bool
  /// The terminal on which screens are drawn; nil if standard output is not a terminal, or if
  /// `TERM` is `dumb`.
  package var terminal: Terminal?
  /// Shows text page by page until the user quits; returns `false` if the pager cannot be started.
  /// The closure is nil if output must not be paged.
  package var page: (@Sendable ([UInt8]) -> Bool)?
  /// Returns standard input up to its end, but at most the given number of bytes.
  package var readInput: @Sendable (Int) async throws -> [UInt8]
  /// The size of the terminal, queried before each drawing because the user may have resized the
  /// window.
  package var size: @Sendable () -> (columns: Int, rows: Int)

  package init(
    write: @escaping @Sendable ([UInt8]) throws -> Void,
    diagnose: @escaping @Sendable (String) -> Void, isOutputTerminal: Bool = false,
    isDiagnosticsTerminal: Bool = false, palette: TextStyle.Palette = .none,
    usesUnicode: Bool = true,
    terminal: Terminal? = nil,
    page: (@Sendable ([UInt8]) -> Bool)? = nil,
    readInput: @escaping @Sendable (Int) async throws -> [UInt8] = { _ in [] },
    size: @escaping @Sendable () -> (columns: Int, rows: Int) = { (80, 24) }
  ) {
    self.write = write
    self.diagnose = diagnose
    self.isOutputTerminal = isOutputTerminal
    self.isDiagnosticsTerminal = isDiagnosticsTerminal
    self.palette = palette
    self.usesUnicode = usesUnicode
    self.terminal = terminal
    self.page = page
    self.readInput = readInput
    self.size = size
  }

  /// The number of columns available to text; unlimited if the output is a file or a pipe.
  package var columns: Int { isOutputTerminal ? size().columns : .max }

  /// Returns the text in a style; returns the text unchanged if the output has no styles.
  package func styled(_ text: String, _ style: TextStyle) -> String {
    guard isOutputTerminal, palette != .none else { return text }
    return style.sequence(palette) + text + TextStyle.plain.sequence(palette)
  }

  /// Writes a complete result; shows it in the pager if it is taller than the terminal.
  package func show(_ bytes: [UInt8]) throws {
    if let page, isOutputTerminal, bytes.count(where: { $0 == 0x0A }) >= size().rows, page(bytes) {
      return
    }
    try write(bytes)
  }

  /// Replaces the current last line of the terminal with a line of at most `columns` columns. Does
  /// nothing if diagnostics do not go to a terminal.
  package func showProgress(_ line: (_ columns: Int) -> String) {
    guard isDiagnosticsTerminal else { return }
    // The last column stays empty, because some terminals wrap the line when it is written.
    diagnose("\r\(line(max(1, size().columns - 1)))\u{1B}[K")
  }

  package func clearProgress() {
    if isDiagnosticsTerminal { diagnose("\r\u{1B}[K") }
  }

  package func writeLine(_ line: String) throws { try write(Array((line + "\n").utf8)) }
  package func warn(_ message: String) { diagnose("livehostctl: \(message)\n") }
}
