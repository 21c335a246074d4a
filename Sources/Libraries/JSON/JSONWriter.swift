/// Writes JSON text incrementally: no value is built first, and members keep their order. Within an
/// object, call ``name(_:)`` before each value, or use one of the `add` methods, which write the
/// name and the value.
package struct JSONWriter: Sendable {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  /// Appends the output of `body` to `bytes`. The array is swapped into the writer and back, so it
  /// never has two owners and its content is never copied.
  package static func append(to bytes: inout [UInt8], _ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    swap(&writer.bytes, &bytes)
    body(&writer)
    swap(&writer.bytes, &bytes)
  }

  // MARK: Values

  package mutating func append(_ value: Int) {
    separate()
    bytes.append(decimal: Int64(value))
  }

  /// Appends a finite number, whose shortest description in Swift is valid JSON.
  package mutating func append(_ value: Double) { appendJSON(value.description) }
  package mutating func append(_ value: Float) { appendJSON(value.description) }
  package mutating func append(_ value: Bool) { appendJSON(value ? "true" : "false") }

  package mutating func append(_ value: String) {
    var value = value
    value.withUTF8 { append(utf8: $0) }
  }

  /// Appends a string of these bytes, which must be valid UTF-8.
  package mutating func append(utf8: UnsafeBufferPointer<UInt8>) {
    separate()
    Self.appendQuoted(utf8, to: &bytes)
  }

  /// Appends a string whose bytes are already escaped, given without the enclosing quotation marks.
  package mutating func append(escaped: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: escaped)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends a value that is already JSON text.
  package mutating func appendJSON(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func appendObject(_ body: (inout JSONWriter) -> Void) {
    open(.object)
    body(&self)
    close(.object)
  }

  /// Appends an object whose first member is its type.
  package mutating func appendObject(type: String, _ body: (inout JSONWriter) -> Void) {
    appendObject {
      $0.add("type", type)
      body(&$0)
    }
  }

  /// Returns the text of an object whose first member is its type.
  package static func object(type: String, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.appendObject(type: type, body)
    return writer.bytes
  }

  package mutating func appendArray(_ body: (inout JSONWriter) -> Void) {
    open(.array)
    body(&self)
    close(.array)
  }

  // MARK: Members

  /// Appends the name of the next value's member. The name must not contain characters that need
  /// escapes.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    endName()
  }

  /// Appends the name of the next value's member, which may contain characters that need escapes.
  package mutating func name(text: String) {
    append(text)
    endName()
  }

  private mutating func endName() {
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func add(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }

  package mutating func add(_ name: StaticString, _ value: Double?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }

  package mutating func add(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }

  package mutating func add(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }

  package mutating func addObject(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    appendObject(body)
  }

  package mutating func addArray(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    appendArray(body)
  }

  // MARK: Parts

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  enum Bracket { case object, array }

  mutating func open(_ bracket: Bracket) {
    separate()
    bytes.append(bracket == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
    needsComma = false
  }

  mutating func close(_ bracket: Bracket) {
    bytes.append(bracket == .object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    needsComma = true
  }

  /// Appends a quoted string. Control characters are escaped, and everything else is copied.
  static func appendQuoted(_ utf8: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var rest = utf8[...]
    while true {
      let plain = rest[..<firstEscaped(of: rest)]
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: plain))
      rest = rest[plain.endIndex...]
      guard let byte = rest.popFirst() else { break }
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case 0x0A: bytes.append(UInt8(ascii: "n"))
      case 0x0D: bytes.append(UInt8(ascii: "r"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      case 0x00..<0x20, 0x7F:
        bytes.append(contentsOf: "u00".utf8)
        for digit in [byte >> 4, byte & 15] {
          bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns the index of the first byte that must be escaped, or the end index. Examines eight
  /// bytes at a time, which is ten times as fast as with Swift's SIMD types.
  private static func firstEscaped(of utf8: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    let bytes = UnsafeRawBufferPointer(utf8.base)
    var index = utf8.startIndex
    while index + 8 <= utf8.endIndex {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      // The highest bit of each matching byte. A borrow may set further bits, but only after a
      // matching byte.
      var found = (word &- 0x20 &* ones) & ~word
      found |= zeros(word ^ 0x22 &* ones) | zeros(word ^ 0x5C &* ones) | zeros(word ^ 0x7F &* ones)
      found &= 0x80 &* ones
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < utf8.endIndex, !mustBeEscaped(utf8[index]) { index += 1 }
    return index
  }

  /// Returns a word with the highest bit of each zero byte set.
  private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }
}

extension [UInt8] {
  /// Appends a number in decimal digits.
  package mutating func append(decimal number: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = number.magnitude
      var start = 20
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 { append(UInt8(ascii: "-")) }
      append(contentsOf: UnsafeBufferPointer(rebasing: digits[start..<20]))
    }
  }
}
