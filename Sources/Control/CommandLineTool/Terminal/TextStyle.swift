/// How a piece of text looks on a terminal. A style never says more than its text does.
package struct TextStyle: Equatable, Sendable {
  /// The eight colours that every terminal has, by their number in SGR.
  package enum Color: UInt8, Sendable, CaseIterable {
    case red = 31
    case green, yellow, blue, magenta, cyan
  }

  /// A colour by its parts.
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

  /// The colours that a terminal has.
  package enum Palette: Sendable { case none, eight, all }

  package var color: Color?
  package var isStrong = false
  package var isFaint = false
  package var isReversed = false
  /// Stands for ``color`` where a terminal has all colours.
  package var shade: Shade?
  /// What can be selected where this text is; terminals are not told.
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

  /// The sequence that sets just this style.
  /// - Parameter palette: Which colours may be used; the rest stays.
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

/// Pieces of text in a row, each in its style.
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

  /// With a target wherever there is none yet.
  func targeting(_ target: String) -> StyledLine {
    StyledLine(
      parts.map { part in
        var style = part.style
        style.target = style.target ?? target
        return (part.text, style)
      })
  }

  /// Without its styles.
  package var text: String { parts.map(\.text).joined() }
  package var width: Int { parts.reduce(0) { $0 + TerminalText.width($1.text) } }

  /// Items in a row with two spaces between them, on as many lines as that takes.
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

  /// Broken into lines of a width, where ``LineBreaks`` allows it; the later lines are indented.
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
        // One that is longer than a line begins where there is room, and is cut where the line ends.
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

  /// How many columns of a word that is longer than a line are worth beginning it at the end of another.
  private static let leastHead = 8
}
