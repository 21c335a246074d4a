import LiveEvents

/// Builds the text of one JSON object, member by member.
struct JSONObjectWriter {
  private var bytes: [UInt8] = []
  private var needsComma = false

  /// Appends the object whose members `body` adds.
  ///
  /// The array is handed over by swapping: it never has two owners, so its contents are not copied,
  /// however long it is.
  static func append(to bytes: inout [UInt8], _ body: (inout JSONObjectWriter) -> Void) {
    var object = JSONObjectWriter()
    swap(&object.bytes, &bytes)
    object.bytes.append(UInt8(ascii: "{"))
    body(&object)
    object.bytes.append(UInt8(ascii: "}"))
    swap(&object.bytes, &bytes)
  }

  static func quoted(_ string: String) -> [UInt8] {
    var object = JSONObjectWriter()
    object.append(string: string)
    return object.bytes
  }

  // MARK: Members

  mutating func add(_ key: StaticString, _ value: Int) {
    begin(key)
    bytes.append(contentsOf: String(value).utf8)
  }

  mutating func add(_ key: StaticString, _ value: Double) {
    begin(key)
    append(number: value.description)
  }

  mutating func add(_ key: StaticString, _ value: String) {
    begin(key)
    append(string: value)
  }

  mutating func add(_ key: StaticString, _ value: Text) {
    begin(key)
    append(text: value)
  }

  mutating func add(_ key: StaticString, _ value: Text?) {
    if let value { add(key, value) }
  }

  mutating func add(_ key: StaticString, _ values: [Text]) {
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(text: value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func add(_ key: StaticString, _ value: Int?) {
    if let value { add(key, value) }
  }

  mutating func add(_ key: StaticString, _ value: Double?) {
    if let value { add(key, value) }
  }

  mutating func add(_ key: StaticString, _ value: Bool?) {
    guard let value else { return }
    begin(key)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  mutating func add(_ key: StaticString, _ values: [Float]) {
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(number: value.description)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func open(_ key: StaticString) {
    begin(key)
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  mutating func close() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  // MARK: Parts

  private mutating func begin(_ key: StaticString) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    bytes.append(UInt8(ascii: "\""))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Swift's shortest form of a finite number is a number of JSON.
  private mutating func append(number: String) { bytes.append(contentsOf: number.utf8) }

  private mutating func append(string: String) {
    var string = string
    string.withUTF8 { appendEscaped($0) }
  }

  private mutating func append(text: Text) {
    if text.escape == .json {
      // It was received as JSON and is written unchanged.
      bytes.append(UInt8(ascii: "\""))
      text.withRawBytes { bytes.append(contentsOf: $0) }
      bytes.append(UInt8(ascii: "\""))
    } else {
      text.withUTF8 { appendEscaped($0) }
    }
  }

  private mutating func appendEscaped(_ utf8: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    var plain = 0
    for (index, byte) in utf8.enumerated()
    where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[plain..<index]))
      plain = index + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case 0x0A: bytes.append(UInt8(ascii: "n"))
      case 0x0D: bytes.append(UInt8(ascii: "r"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      case 0x00..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[plain...]))
    bytes.append(UInt8(ascii: "\""))
  }
}
