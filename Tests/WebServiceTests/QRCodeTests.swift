import Testing
import WebService

@Suite struct QRCodeTests {
  private func text(_ code: QRCode) -> [String] {
    (0..<code.size).map { row in
      (0..<code.size).map { code.isDark(row, $0) ? "#" : "." }.joined()
    }
  }

  @Test(
    arguments: zip(
      [1, 14, 15, 26, 27, 42, 62, 84, 106, 122, 152, 180, 181, 213],
      [21, 21, 25, 25, 29, 29, 33, 37, 41, 45, 49, 53, 57, 57]))
  func `the code is as large as the text requires`(bytes: Int, size: Int) throws {
    let code = try QRCode(String(repeating: "a", count: bytes))
    #expect(code.size == size)
    // The large squares are in three corners, and the timing patterns join them.
    let rows = text(code)
    for row in [rows[0], rows[size - 7]] { #expect(row.hasPrefix("#######.")) }
    #expect(rows[0].hasSuffix(".#######"))
    for at in 8..<(size - 8) {
      #expect(code.isDark(6, at) == (at % 2 == 0) && code.isDark(at, 6) == (at % 2 == 0))
    }
    #expect(code.isDark(size - 8, 8), "this module is always dark")
  }

  @Test func `a text beyond the largest version is an error`() {
    #expect(throws: QRCode.TooLong.self) { try QRCode(String(repeating: "a", count: 214)) }
  }

  @Test func `a terminal shows two rows of modules per line, with a light margin`() throws {
    let code = try QRCode("https://page.example/#t=0")
    let lines = code.terminalText.split(separator: "\n")
    #expect(lines.count == (code.size + 9) / 2)
    #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[97;40m████") && $0.hasSuffix("\u{1B}[0m") })
    #expect(lines[0].dropFirst(8).dropLast(4).allSatisfy { $0 == "█" })
  }
}
