/// A QR code (ISO/IEC 18004) of a text of at most 213 bytes: byte mode, error correction level M,
/// versions 1 to 10.
package struct QRCode: Sendable {
  package struct TooLong: Error, CustomStringConvertible {
    package let description = "the link is too long for a QR code; use a shorter --url"
    package init() {}
  }

  /// The number of rows and of columns.
  package let size: Int
  private var dark: [Bool]
  /// The modules that are not data: patterns, format and version.
  private var isFixed: [Bool]

  package init(_ text: String) throws(TooLong) {
    let bytes = Array(text.utf8)
    let found = Layout.all.firstIndex { bytes.count <= $0.capacity }
    guard let index = found else { throw TooLong() }
    let (version, layout) = (index + 1, Layout.all[index])
    size = 17 + 4 * version
    dark = Array(repeating: false, count: size * size)
    isFixed = dark
    drawPatterns(version, layout)
    drawData(layout.codewords(bytes, countBits: version < 10 ? 8 : 16))
    let plain = dark
    var (best, least) = (0, Int.max)
    for mask in 0..<8 {
      dark = plain
      apply(mask)
      let penalty = penalty
      if penalty < least { (best, least) = (mask, penalty) }
    }
    dark = plain
    apply(best)
  }

  /// Returns whether a module is dark. Modules outside of the code are light.
  package func isDark(_ row: Int, _ column: Int) -> Bool {
    (0..<size).contains(row) && (0..<size).contains(column) && dark[row * size + column]
  }

  /// The code as lines of text, with half a character for each module. Light modules are drawn,
  /// because most terminals are dark; a terminal that understands colours shows white on black.
  package var terminalText: String {
    // The margin has four light modules.
    stride(from: -4, to: size + 4, by: 2).map { row in
      "\u{1B}[97;40m"
        + (-4..<(size + 4)).map { column in
          switch (isDark(row, column), isDark(row + 1, column)) {
          case (false, false): "█"
          case (false, true): "▀"
          case (true, false): "▄"
          case (true, true): " "
          }
        }.joined() + "\u{1B}[0m\n"
    }.joined()
  }

  // MARK: Patterns

  private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return }
    dark[row * size + column] = isDark
    isFixed[row * size + column] = true
  }

  private mutating func drawPatterns(_ version: Int, _ layout: Layout) {
    for at in 0..<size {
      fix(6, at, at % 2 == 0)
      fix(at, 6, at % 2 == 0)
    }
    // Concentric squares: three large ones with a light border, and small ones.
    for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
      drawSquares(row, column, radius: 4, light: [2, 4])
    }
    let centres = layout.alignment
    for row in centres {
      // The small squares are not drawn in the three corners that have large squares.
      for column in centres
      where max(row, column) != 6 && !(min(row, column) == 6 && max(row, column) == size - 7) {
        drawSquares(row, column, radius: 2, light: [1])
      }
    }
    drawFormat(mask: 0)
    if version >= 7 { drawVersion(version) }
  }

  private mutating func drawSquares(_ row: Int, _ column: Int, radius: Int, light: [Int]) {
    for down in -radius...radius {
      for right in -radius...radius {
        fix(row + down, column + right, !light.contains(max(abs(down), abs(right))))
      }
    }
  }

  /// Draws both copies of the format. The bits of level M are 00.
  private mutating func drawFormat(mask: Int) {
    let format = (mask << 10 | Self.remainder(mask << 10, by: 0x537)) ^ 0x5412
    for bit in 0..<15 {
      let isDark = format >> bit & 1 == 1
      // The first copy is around the upper left pattern; it leaves out row and column 6.
      let (row, column) =
        switch bit {
        case 0...5: (bit, 8)
        case 6: (7, 8)
        case 7: (8, 8)
        case 8: (8, 7)
        default: (8, 14 - bit)
        }
      fix(row, column, isDark)
      if bit < 8 { fix(8, size - 1 - bit, isDark) } else { fix(size - 15 + bit, 8, isDark) }
    }
    fix(size - 8, 8, true)
  }

  private mutating func drawVersion(_ version: Int) {
    let bits = version << 12 | Self.remainder(version << 12, by: 0x1F25)
    for bit in 0..<18 {
      fix(bit / 3, size - 11 + bit % 3, bits >> bit & 1 == 1)
      fix(size - 11 + bit % 3, bit / 3, bits >> bit & 1 == 1)
    }
  }

  /// Returns the remainder of a division of polynomials over GF(2).
  private static func remainder(_ dividend: Int, by divisor: Int) -> Int {
    let length = Int.bitWidth - divisor.leadingZeroBitCount
    var rest = dividend
    while Int.bitWidth - rest.leadingZeroBitCount >= length {
      rest ^= divisor << (Int.bitWidth - rest.leadingZeroBitCount - length)
    }
    return rest
  }

  // MARK: Data

  /// Draws bits in columns of two modules, from right to left, alternately upwards and downwards.
  private mutating func drawData(_ codewords: [UInt8]) {
    var (index, goesUp) = (0, true)
    for pair in stride(from: size - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
      for step in 0..<size {
        let row = goesUp ? size - 1 - step : step
        for column in [pair, pair - 1] where !isFixed[row * size + column] {
          if index < 8 * codewords.count {
            dark[row * size + column] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
          }
          index += 1
        }
      }
      goesUp.toggle()
    }
  }

  private mutating func apply(_ mask: Int) {
    for row in 0..<size {
      for column in 0..<size where !isFixed[row * size + column] {
        let inverts =
          switch mask {
          case 0: (row + column) % 2 == 0
          case 1: row % 2 == 0
          case 2: column % 3 == 0
          case 3: (row + column) % 3 == 0
          case 4: (row / 2 + column / 3) % 2 == 0
          case 5: row * column % 2 + row * column % 3 == 0
          case 6: (row * column % 2 + row * column % 3) % 2 == 0
          default: ((row + column) % 2 + row * column % 3) % 2 == 0
          }
        if inverts { dark[row * size + column].toggle() }
      }
    }
    drawFormat(mask: mask)
  }

  /// A measure of how hard the code is to read. It grows with long runs, squares of one colour,
  /// shapes like the large patterns, and an imbalance of dark and light.
  private var penalty: Int {
    var sum = 0
    let finder = [true, false, true, true, true, false, true]
    for line in 0..<size {
      for cells in [(0..<size).map { isDark(line, $0) }, (0..<size).map { isDark($0, line) }] {
        var run = 0
        for at in 0..<size {
          run = at > 0 && cells[at] == cells[at - 1] ? run + 1 : 1
          if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
          guard at + 7 <= size, Array(cells[at..<(at + 7)]) == finder else { continue }
          let before = (at - 4..<at).allSatisfy { $0 < 0 || !cells[$0] }
          let after = (at + 7..<at + 11).allSatisfy { $0 >= size || !cells[$0] }
          if before || after { sum += 40 }
        }
      }
    }
    for row in 0..<(size - 1) {
      for column in 0..<(size - 1) {
        let first = isDark(row, column)
        if first == isDark(row, column + 1), first == isDark(row + 1, column),
          first == isDark(row + 1, column + 1)
        {
          sum += 3
        }
      }
    }
    let share = 20 * dark.count { $0 } - 10 * dark.count
    return sum + 10 * (abs(share) / dark.count)
  }
}

extension QRCode {
  /// The blocks of a version at level M, and the centres of its alignment patterns.
  private struct Layout {
    let correction: Int
    /// The number of data bytes of each block. Longer blocks are last.
    let blocks: [Int]
    let alignment: [Int]

    static let all = [
      Layout(correction: 10, blocks: [16], alignment: []),
      Layout(correction: 16, blocks: [28], alignment: [6, 18]),
      Layout(correction: 26, blocks: [44], alignment: [6, 22]),
      Layout(correction: 18, blocks: [32, 32], alignment: [6, 26]),
      Layout(correction: 24, blocks: [43, 43], alignment: [6, 30]),
      Layout(correction: 16, blocks: [27, 27, 27, 27], alignment: [6, 34]),
      Layout(correction: 18, blocks: [31, 31, 31, 31], alignment: [6, 22, 38]),
      Layout(correction: 22, blocks: [38, 38, 39, 39], alignment: [6, 24, 42]),
      Layout(correction: 22, blocks: [36, 36, 36, 37, 37], alignment: [6, 26, 46]),
      Layout(correction: 26, blocks: [43, 43, 43, 43, 44], alignment: [6, 28, 50]),
    ]

    var dataBytes: Int { blocks.reduce(0, +) }

    /// The maximum number of bytes of a text. Mode and length take 12 bits, or 20 in version 10.
    var capacity: Int { dataBytes - (blocks.count == 5 && correction == 26 ? 3 : 2) }

    /// Returns the interleaved bytes of all blocks and of their error correction.
    func codewords(_ text: [UInt8], countBits: Int) -> [UInt8] {
      var bits = (0..<4).map { 0b0100 >> (3 - $0) & 1 == 1 }
      bits += (0..<countBits).map { text.count >> (countBits - 1 - $0) & 1 == 1 }
      for byte in text { bits += (0..<8).map { byte >> (7 - $0) & 1 == 1 } }
      bits += Array(repeating: false, count: min(4, 8 * dataBytes - bits.count))
      bits += Array(repeating: false, count: (8 - bits.count % 8) % 8)
      var data = stride(from: 0, to: bits.count, by: 8).map { start in
        bits[start..<(start + 8)].reduce(0 as UInt8) { $0 << 1 | ($1 ? 1 : 0) }
      }
      for index in data.count..<max(dataBytes, data.count) {
        data.append((index - bits.count / 8) % 2 == 0 ? 0xEC : 0x11)
      }
      var (parts, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], data[...])
      for count in blocks {
        parts.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      let checks = parts.map { ReedSolomon.remainder($0, count: correction) }
      let longest = blocks.max() ?? 0
      return (0..<longest).flatMap { at in parts.filter { at < $0.count }.map { $0[at] } }
        + (0..<correction).flatMap { at in checks.map { $0[at] } }
    }
  }
}

/// Error correction over GF(256) with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
private enum ReedSolomon {
  /// Returns `count` bytes of error correction for a block.
  static func remainder(_ block: [UInt8], count: Int) -> [UInt8] {
    // The coefficients of (x - 2^0)(x - 2^1)..., highest power first, without the leading 1.
    var generator = [UInt8](repeating: 0, count: count)
    generator[count - 1] = 1
    var root: UInt8 = 1
    for _ in 0..<count {
      for at in 0..<count {
        generator[at] = product(generator[at], root) ^ (at + 1 < count ? generator[at + 1] : 0)
      }
      root = product(root, 2)
    }
    var rest = [UInt8](repeating: 0, count: count)
    for byte in block {
      let factor = byte ^ rest.removeFirst()
      rest.append(0)
      for at in 0..<count { rest[at] ^= product(generator[at], factor) }
    }
    return rest
  }

  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var result: UInt8 = 0
    for bit in (0..<8).reversed() {
      result = (result << 1) ^ (result >> 7 == 1 ? 0x1D : 0)
      if right >> bit & 1 == 1 { result ^= left }
    }
    return result
  }
}
