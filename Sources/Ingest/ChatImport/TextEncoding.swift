/// Converts text that arrives in pieces to UTF-8. Removes byte order marks. Converts UTF-16, which
/// programs on Windows write, such as PowerShell when its output is redirected to a file.
package struct TextEncoding: Sendable {
  private enum Form: Sendable {
    case unknown
    case utf8
    case utf16(isBigEndian: Bool)
  }

  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private var form = Form.unknown
  /// An incomplete unit or surrogate pair, or too few bytes to recognise the encoding.
  private var rest: [UInt8] = []

  package init() {}

  /// Converts a piece. Takes O(length). UTF-8 text is not copied, except for the first bytes.
  package mutating func convert(
    _ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    switch form {
    case .utf8: body(piece)
    case .utf16(let isBigEndian):
      rest.append(contentsOf: piece)
      pass(isBigEndian, isLast: false, body)
    case .unknown:
      rest.append(contentsOf: piece)
      if rest.count >= 4 { recognise(isLast: false, body) }
    }
  }

  /// Converts the remaining bytes at the end of the text.
  package mutating func finish(_ body: (UnsafeRawBufferPointer) -> Void) {
    switch form {
    case .utf8: break
    case .utf16(let isBigEndian): pass(isBigEndian, isLast: true, body)
    case .unknown: recognise(isLast: true, body)
    }
  }

  private mutating func recognise(isLast: Bool, _ body: (UnsafeRawBufferPointer) -> Void) {
    let head = rest
    if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
      form = .utf16(isBigEndian: head[0] == 0xFE)
      rest.removeFirst(2)
    } else if head.count >= 4, head[0] != 0, head[1] == 0, head[2] != 0, head[3] == 0 {
      form = .utf16(isBigEndian: false)
    } else if head.count >= 4, head[0] == 0, head[1] != 0, head[2] == 0, head[3] != 0 {
      form = .utf16(isBigEndian: true)
    } else {
      form = .utf8
      rest = []
      let text = head.starts(with: Self.mark) ? head[3...] : head[...]
      return text.withUnsafeBytes(body)
    }
    if case .utf16(let isBigEndian) = form { pass(isBigEndian, isLast: isLast, body) }
  }

  /// Passes on all complete characters. Invalid input becomes U+FFFD.
  private mutating func pass(
    _ isBigEndian: Bool, isLast: Bool, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    var units = stride(from: 0, to: rest.count - 1, by: 2).map { index in
      let (first, second) = (UInt16(rest[index]), UInt16(rest[index + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    if !isLast, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
    rest.removeFirst(isLast ? rest.count : 2 * units.count)
    guard !units.isEmpty else { return }
    Array(String(decoding: units, as: UTF16.self).utf8).withUnsafeBytes(body)
  }
}
