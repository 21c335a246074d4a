/// The style of a piece of text on a terminal. Text must make sense without its style.
package struct TextStyle: Equatable, Sendable {
  /// A basic colour that every terminal has, by its number in SGR.
  package enum Color: UInt8, Sendable, CaseIterable {
    case red = 31
    case green, yellow, blue, magenta, cyan
  }

  /// A colour by its red, green and blue components.
  package struct Shade: Equatable, Sendable {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8) {
      self.red = red
      self.green = green
      self.blue = blue
    }
  }

  /// The colours that a terminal supports.
  package enum Palette: Sendable { case none, eight, all }

  package var color: Color?
  package var isStrong = false
  package var isFaint = false
  package var isReversed = false
  /// On terminals that support all colours, this colour is used instead of ``color``.
  package var shade: Shade?
  /// The identity of the selectable element that this text belongs to. It does not affect the
  /// output to the terminal.
  package var target: String?

  package init(
    _ color: Color? = nil, strong: Bool = false, faint: Bool = false, reversed: Bool = false
  ) {
    self.color = color
    isStrong = strong
    isFaint = faint
    isReversed = reversed
  }

  package static let plain = TextStyle()
  package static let strong = TextStyle(strong: true)
  package static let faint = TextStyle(faint: true)
  package static let reversed = TextStyle(reversed: true)
  package static let good = TextStyle(.green)
  package static let warning = TextStyle(.yellow, strong: true)
  package static let bad = TextStyle(.red, strong: true)

  /// Returns the control sequence that replaces the current style with this style. `palette`
  /// affects only the colours.
  package func sequence(_ palette: Palette) -> String {
    var codes = ["0"]
    if isStrong { codes.append("1") }
    if isFaint { codes.append("2") }
    if isReversed { codes.append("7") }
    if palette == .all, let shade {
      codes.append("38;2;\(shade.red);\(shade.green);\(shade.blue)")
    } else if palette != .none, let color {
      codes.append("\(color.rawValue)")
    }
    return "\u{1B}[\(codes.joined(separator: ";"))m"
  }
}

/// A line of text whose pieces have individual styles.
package struct StyledLine: Equatable, Sendable {
  package var parts: [(text: String, style: TextStyle)]

  package init(_ parts: [(text: String, style: TextStyle)] = []) { self.parts = parts }

  package init(_ text: String, _ style: TextStyle = .plain) { parts = [(text, style)] }

  package static func == (one: StyledLine, other: StyledLine) -> Bool {
    one.parts.elementsEqual(other.parts) { $0.text == $1.text && $0.style == $1.style }
  }

  package mutating func append(_ text: String, _ style: TextStyle = .plain) {
    parts.append((text, style))
  }

  package static func + (one: StyledLine, other: StyledLine) -> StyledLine {
    StyledLine(one.parts + other.parts)
  }

  /// Returns the line with a target set for every piece that has none.
  func targeting(_ target: String) -> StyledLine {
    StyledLine(
      parts.map { part in
        var style = part.style
        style.target = style.target ?? target
        return (part.text, style)
      })
  }

  package var text: String { parts.map(\.text).joined() }
  package var width: Int { parts.reduce(0) { $0 + TerminalText.width($1.text) } }

  /// Arranges items in lines, two spaces apart, and starts another line when an item does not fit.
  package static func flow(_ items: [StyledLine], width: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    for item in items {
      if let last = lines.last, last.width + 2 + item.width <= width {
        lines[lines.count - 1] = last + StyledLine("  ") + item
      } else {
        lines.append(item)
      }
    }
    return lines
  }

  /// Breaks the line to fit a width, at the positions that ``LineBreaks`` finds. Continuation lines
  /// are indented.
  package func wrapped(width: Int, indent: Int = 2) -> [StyledLine] {
    guard self.width > width, width > indent + 8 else { return [self] }
    var lines: [StyledLine] = []
    var line = StyledLine()
    var used = 0
    func start() -> StyledLine { StyledLine(String(repeating: " ", count: indent)) }
    for part in parts {
      for word in LineBreaks.words(part.text) {
        var word = word
        let columns = TerminalText.width(word)
        // A word longer than a line starts on the current line if enough columns are left, and is
        // cut at the line's end.
        if used + columns > width, used > indent,
          columns <= width - indent || used + Self.leastHead > width
        {
          lines.append(line)
          (line, used) = (start(), indent)
          word = String(word.drop { $0 == " " })
        }
        while used + TerminalText.width(word) > width {
          let head = TerminalText.prefix(word, width: width - used)
          line.append(head, part.style)
          lines.append(line)
          (line, used) = (start(), indent)
          word = String(word.dropFirst(head.count))
        }
        line.append(word, part.style)
        used += TerminalText.width(word)
      }
    }
    return lines + [line]
  }

  /// The smallest number of free columns in which an overlong word starts on the current line.
  private static let leastHead = 8
}
