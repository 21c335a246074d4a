import Glibc
import TerminalScreen
import TerminalTestSupport
import Testing

/// Reproducible random numbers.
private struct Dice {
  var state: UInt64
  mutating func roll(_ sides: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(sides))
  }
}

@Suite struct ScreenPainterTests {
  private func grid(_ rows: [String], columns: Int = 40) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows.count)
    for (index, text) in rows.enumerated() {
      grid.put(text, row: index, column: 0, width: columns)
    }
    return grid
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a terminal shows each picture correctly after any other picture`(seed: UInt64) {
    var dice = Dice(state: seed)
    let words = ["a", "bc", "日本", "👩‍👩‍👧", "e\u{301}", " ", "      ", "─", "[##--]", "ü"]
    let styles: [TextStyle] = [.plain, .strong, .faint, .bad, TextStyle(.cyan, reversed: true)]
    var picture = TerminalPicture(columns: 33, rows: 12)
    var painter = ScreenPainter(.eight)
    var grid = CellGrid(columns: 33, rows: 12)
    for _ in 0..<60 {
      if dice.roll(3) == 0 {
        // As in a chat, all rows move up and a new row appears.
        var moved = CellGrid(columns: 33, rows: 12)
        let distance = 1 + dice.roll(4)
        for row in 0..<12 - distance {
          var line = CellGrid(columns: 33, rows: 1)
          line.put(grid.text(row: row + distance), row: 0, column: 0, width: 33)
          moved.put(line, row: row, column: 0)
        }
        grid = moved
      }
      for _ in 0..<dice.roll(5) {
        let line = StyledLine(
          (0..<dice.roll(8)).map { _ in (words[dice.roll(words.count)], styles[dice.roll(5)]) })
        grid.put(line, row: dice.roll(12), column: dice.roll(30), width: dice.roll(33))
      }
      picture.write(painter.bytes(for: grid))
      #expect(picture.lines == (0..<12).map { grid.text(row: $0) }, "seed \(seed)")
    }
    #expect(picture.unknown == [])
  }

  @Test func `unchanged cells are not sent again`() {
    var painter = ScreenPainter(.eight)
    let first = grid(["one", "two, which stays", "three"])
    let (once, again) = (painter.bytes(for: first), painter.bytes(for: first))
    #expect(!once.isEmpty && again.isEmpty)
    let changed = String(
      decoding: painter.bytes(for: grid(["one", "two, which stays", "th4ee"])), as: UTF8.self)
    #expect(changed == "\u{1B}[3;3H4")
  }

  @Test func `rows that move up are scrolled by the terminal`() {
    var painter = ScreenPainter(.eight)
    let rows = (0..<20).map { "message number \($0) of a longer chat" }
    _ = painter.bytes(for: grid(Array(rows[0..<10])))
    let bytes = painter.bytes(for: grid(Array(rows[1..<11])))
    #expect(String(decoding: bytes, as: UTF8.self).contains("\u{1B}[1S"))
    #expect(bytes.count < 80)
  }

  @Test func `a picture whose size differs from the previous picture is drawn completely`() {
    var painter = ScreenPainter(.eight)
    _ = painter.bytes(for: grid(["one"]))
    let whole = painter.bytes(for: grid(["one", ""]))
    #expect(String(decoding: whole, as: UTF8.self) == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1Hone")
    painter.forget()
    let again = painter.bytes(for: grid(["one", ""]))
    #expect(again == whole)
  }

  @Test func `a terminal without colours still shows the other attributes of a style`() {
    let style = TextStyle(.red, strong: true)
    #expect(style.sequence(.eight) == "\u{1B}[0;1;31m")
    #expect(style.sequence(.none) == "\u{1B}[0;1m")
  }

  @Test
  func `a terminal with all colours shows the exact shade, other terminals the nearest colour`() {
    var style = TextStyle(.green)
    style.shade = TextStyle.Shade(red: 1, green: 200, blue: 3)
    #expect(style.sequence(.all) == "\u{1B}[0;38;2;1;200;3m")
    #expect(style.sequence(.eight) == "\u{1B}[0;32m")
  }

  @Test func `the invisible character with which chat clients repeat a message is not drawn`() {
    #expect(TerminalText.sanitized("again \u{E0000}") == "again ")
    #expect(TerminalText.sanitized("\u{1B}[2J\u{E0001}") == "\u{FFFD}[2J\u{FFFD}")
  }

  @Test func `an overlong line is cut with an ellipsis`() {
    var grid = CellGrid(columns: 10, rows: 2)
    grid.put("abcdefgh", row: 0, column: 0, width: 5)
    grid.put("日本語日本語", row: 1, column: 1, width: 6)
    grid.put("outside", row: 2, column: 0, width: 9)
    #expect(grid.text(row: 0) == "abcd…")
    #expect(grid.text(row: 1) == " 日本…")
  }
}

@Suite struct KeyTests {
  @Test(
    arguments: [
      ("\u{1B}[A", .up), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown),
      ("\u{1B}[1;5H", .home), ("\u{1B}[4~", .end), ("\u{1B}[Z", .backTab), ("\t", .tab),
      ("\r", .enter), ("\u{1B}", .escape), ("\u{7F}", .backspace), ("q", .character("q")),
      ("ü", .character("ü")),
    ] as [(String, Key)])
  func `each key of the terminal is recognised by its byte sequence`(text: String, key: Key) {
    var parser = KeyParser()
    let keys = parser.keys(Array(text.utf8))
    #expect(keys == [key])
  }

  @Test func `keys are recognised if one key arrives in pieces or several keys arrive together`() {
    var parser = KeyParser()
    func keys(_ bytes: [UInt8]) -> [Key] { parser.keys(bytes) }
    #expect(keys([0x1B, 0x1B]) == [.escape, .escape])
    #expect(keys([0x61, 0x1B]) == [.character("a"), .escape])
    #expect(keys(Array("\u{1B}[".utf8)) == [])
    #expect(keys(Array("Bj\u{1B}[5".utf8)) == [.down, .character("j")])
    #expect(keys(Array("~".utf8)) == [.pageUp])
    #expect(keys(Array("ü".utf8.prefix(1))) == [])
    #expect(keys(Array("ü".utf8.dropFirst())) == [.character("ü")])
  }

  @Test func `a key sequence whose first byte arrives alone is read as one key`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { ends.forEach { close($0) } }
    func send(_ text: String) { _ = text.withCString { write(ends[1], $0, strlen($0)) } }
    var parser = KeyParser()
    send("\u{1B}")
    let click = Keyboard.read(ends[0]) { _ in
      send("[<0;5;3M")
      return true
    }
    #expect(parser.keys(click ?? []) == [.click(row: 2, column: 4)])
    send("\u{1B}")
    let escape = Keyboard.read(ends[0])
    #expect(parser.keys(escape ?? []) == [.escape])
    send("\u{1B}")
    var pieces = ["\u{1B}", "[B"]
    let both = Keyboard.read(ends[0]) { _ in
      send(pieces.removeFirst())
      return true
    }
    #expect(parser.keys(both ?? []) == [.escape, .down])
  }

  @Test func `clicks and wheel turns are recognised, and other mouse events are ignored`() {
    var parser = KeyParser()
    func keys(_ text: String) -> [Key] { parser.keys(Array(text.utf8)) }
    #expect(
      keys("\u{1B}[<0;5;3M\u{1B}[<0;5;3m\u{1B}[<64;1;200M") == [
        .click(row: 2, column: 4), .wheel(-3, row: 199, column: 0),
      ])
    #expect(keys("\u{1B}[<65;2;2Mx") == [.wheel(3, row: 1, column: 1), .character("x")])
    #expect(keys("\u{1B}[<0;0;3M\u{1B}[<0;M\u{1B}[<2;5;3M\u{1B}[<0;99999999999999999999;1M") == [])
  }

  @Test func `unknown byte sequences produce no keys and do not affect later keys`() {
    var parser = KeyParser()
    func keys(_ bytes: [UInt8]) -> [Key] { parser.keys(bytes) }
    #expect(keys([0x00, 0x01, 0xFF, 0xC0]) == [])
    #expect(keys([0x1B, UInt8(ascii: "[")] + [UInt8](repeating: 0x30, count: 40)) == [])
    #expect(keys(Array("x".utf8)) == [.character("x")])
  }
}
