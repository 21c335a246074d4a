/// Writes JSON text piece by piece: no value is built first, and members keep their order.
///
/// Within an object call ``name(_:)`` before each value, or one of the `add` methods, which do both.
package struct JSONWriter: Sendable {
  /// What was written so far.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  /// Appends what `body` writes to `bytes`.
  ///
  /// The array changes hands by swapping: it never has two owners, so that what it holds is not
  /// copied, however long it is.
  package static func append(to bytes: inout [UInt8], _ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    swap(&writer.bytes, &bytes)
    body(&writer)
    swap(&writer.bytes, &bytes)
  }

  // MARK: Values

  package mutating func append(_ value: Int) { appendJSON(String(value)) }
  /// The number must be finite: Swift's shortest form of it is a number in JSON.
  package mutating func append(_ value: Double) { appendJSON(value.description) }
  package mutating func append(_ value: Float) { appendJSON(value.description) }
  package mutating func append(_ value: Bool) { appendJSON(value ? "true" : "false") }

  package mutating func append(_ value: String) {
    var value = value
    value.withUTF8 { append(utf8: $0) }
  }

  /// A string of these bytes, which are valid UTF-8.
  package mutating func append(utf8: UnsafeBufferPointer<UInt8>) {
    separate()
    Self.appendQuoted(utf8, to: &bytes)
  }

  /// A string of bytes that are escaped already, without the quotation marks around it.
  package mutating func append(escaped: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: escaped)
    bytes.append(UInt8(ascii: "\""))
  }

  /// A value that is JSON text already.
  package mutating func appendJSON(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func appendObject(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  package mutating func appendArray(_ body: (inout JSONWriter) -> Void) {
    open("[")
    body(&self)
    close("]")
  }

  // MARK: Members

  /// The name of the member whose value comes next. It needs no escapes.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    endName()
  }

  /// The name of the member whose value comes next, where it is not known in advance.
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

  private mutating func open(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  private mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Control characters are escaped, everything else is written as it is.
  static func appendQuoted(_ utf8: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var plain = 0
    for (index, byte) in utf8.enumerated()
    where byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[plain..<index]))
      plain = index + 1
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
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[plain...]))
    bytes.append(UInt8(ascii: "\""))
  }
}
