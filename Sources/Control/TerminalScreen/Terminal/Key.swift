/// A key of the terminal's keyboard, or an event of the mouse.
package enum Key: Equatable, Sendable {
  case character(Character)
  case up, down, left, right, pageUp, pageDown, home, end
  case enter, tab, backTab, escape, backspace
  /// A click of the first button. The first row and the first column have the number 0.
  case click(row: Int, column: Int)
  /// A turn of the mouse wheel, in rows; down is positive.
  case wheel(Int, row: Int, column: Int)
}

/// Parses the bytes that a terminal sends into keys. The byte sequence of a key may arrive in
/// pieces.
package struct KeyParser: Sendable {
  private var pending: [UInt8] = []

  package init() {}

  /// Returns the keys that these bytes complete. Drops sequences of unknown keys.
  ///
  /// ``Keyboard`` has waited for the rest of a sequence, so an escape byte at the end is the Escape
  /// key.
  package mutating func keys(_ bytes: [UInt8]) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (key, length) = first() {
      pending.removeFirst(length)
      if let key { keys.append(key) }
    }
    if pending == [0x1B] {
      pending = []
      keys.append(.escape)
    }
    // No key has such a long sequence, so these bytes are dropped.
    if pending.count > 32 { pending = [] }
    return keys
  }

  /// Returns the first key and the length of its sequence in bytes; nil if more bytes are needed.
  private func first() -> (key: Key?, length: Int)? {
    guard let byte = pending.first else { return nil }
    switch byte {
    case 0x1B: return sequence()
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x00..<0x20: return (nil, 1)
    case 0x20..<0x7F: return (.character(Character(Unicode.Scalar(byte))), 1)
    default: return scalar(byte)
    }
  }

  private func scalar(_ byte: UInt8) -> (key: Key?, length: Int)? {
    let length =
      switch byte {
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 1
      }
    // Invalid bytes are dropped immediately, so that they do not delay the keys after them.
    guard pending.dropFirst().prefix(length - 1).allSatisfy({ $0 & 0xC0 == 0x80 }) else {
      return (nil, 1)
    }
    guard pending.count >= length else { return nil }
    let text = String(validating: pending.prefix(length), as: UTF8.self)
    return (text?.first.map(Key.character), length)
  }

  private func sequence() -> (key: Key?, length: Int)? {
    guard pending.count > 1 else { return nil }
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
      return (.escape, 1)
    }
    guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      return nil
    }
    if pending[2] == UInt8(ascii: "<") { return (mouse(pending[3..<end], pending[end]), end + 1) }
    let parameter = pending[2..<end].prefix { $0 != UInt8(ascii: ";") }
    let key: Key? =
      switch pending[end] {
      case UInt8(ascii: "A"): .up
      case UInt8(ascii: "B"): .down
      case UInt8(ascii: "C"): .right
      case UInt8(ascii: "D"): .left
      case UInt8(ascii: "H"): .home
      case UInt8(ascii: "F"): .end
      case UInt8(ascii: "Z"): .backTab
      case UInt8(ascii: "M"): .enter
      case UInt8(ascii: "~"): Self.numbered[String(decoding: parameter, as: UTF8.self)]
      default: nil
      }
    return (key, end + 1)
  }

  /// Parses a mouse event (SGR 1006): a button; a column and a row, whose first number is 1; then
  /// `M` for a press or `m` for a release.
  private func mouse(_ parameters: ArraySlice<UInt8>, _ end: UInt8) -> Key? {
    let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0, end == UInt8(ascii: "M") else {
      return nil
    }
    let (row, column) = (numbers[2] - 1, numbers[1] - 1)
    switch numbers[0] {
    case 0: return .click(row: row, column: column)
    case 64: return .wheel(-3, row: row, column: column)
    case 65: return .wheel(3, row: row, column: column)
    default: return nil
    }
  }

  private static let numbered: [String: Key] = [
    "1": .home, "4": .end, "5": .pageUp, "6": .pageDown, "7": .home, "8": .end,
  ]
}
