import Glibc

/// The parts of an IRC line: `@tags :nick!user@host COMMAND first second :last`.
///
/// Refers to the bytes of the line, and is valid only while these bytes are valid. A part becomes a
/// string only when it is read.
struct IRCFields {
  private let line: UnsafeRawBufferPointer
  private var tags = 0..<0
  private var prefix = 0..<0
  private let parameters: Range<Int>
  let command: String

  /// Splits a line. Returns `nil` if the line has no command.
  init?(_ line: UnsafeRawBufferPointer) {
    self.line = line
    var offset = 0
    func word() -> Range<Int> {
      let start = offset
      offset = line[start...].firstIndex(of: 0x20) ?? line.count
      let end = offset
      while offset < line.count, line[offset] == 0x20 { offset += 1 }
      return start..<end
    }
    if line.first == UInt8(ascii: "@") { tags = word().dropFirst() }
    if offset < line.count, line[offset] == UInt8(ascii: ":") { prefix = word().dropFirst() }
    let name = word()
    // Twitch's longest command has 15 bytes. A string this short needs no heap memory.
    guard (1...15).contains(name.count) else { return nil }
    command = String(decoding: line[name], as: UTF8.self)
    parameters = offset..<line.count
  }

  /// The name before the `!` of the prefix, or an empty string if ``word(_:)`` rejects it as too
  /// long.
  var nick: String {
    Self.word(UnsafeRawBufferPointer(rebasing: line[prefix].prefix { $0 != UInt8(ascii: "!") }))
      ?? ""
  }

  /// Returns a parameter by its index, or `nil` if there are fewer. Takes O(length of the line).
  func parameter(_ index: Int) -> String? {
    bytes(ofParameter: index).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a parameter for comparison, or `nil` if it is absent or longer than 64 bytes. Takes
  /// O(length of the line).
  func word(_ index: Int) -> String? { bytes(ofParameter: index).flatMap(Self.word) }

  /// Returns the channel that a parameter names, without its `#`.
  func channel(_ index: Int = 0) -> String? {
    // A server may write the only parameter of a JOIN with a colon.
    guard let bytes = bytes(ofParameter: index), bytes.first == UInt8(ascii: "#") else {
      return nil
    }
    return Self.word(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
  }

  /// Returns text for comparison or hashing, or `nil` if it is longer than 64 bytes. Comparing a
  /// long `String` may take quadratic time; names and capabilities are shorter.
  static func word(_ bytes: UnsafeRawBufferPointer) -> String? {
    bytes.count <= 64 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private func bytes(ofParameter index: Int) -> UnsafeRawBufferPointer? {
    var start = parameters.lowerBound
    for number in 0...index {
      guard start < parameters.upperBound else { return nil }
      let isLast = line[start] == UInt8(ascii: ":")
      if isLast { start += 1 }
      let rest = line[start..<parameters.upperBound]
      let end = isLast ? rest.endIndex : rest.firstIndex(of: 0x20) ?? rest.endIndex
      if number == index { return UnsafeRawBufferPointer(rebasing: line[start..<end]) }
      start = end
      while start < parameters.upperBound, line[start] == 0x20 { start += 1 }
    }
    return nil
  }

  /// Returns the raw value of a tag, or `nil` if the tag is absent or empty. Takes O(length of the
  /// tags).
  func tag(_ name: StaticString) -> UnsafeRawBufferPointer? {
    var start = tags.lowerBound
    while start < tags.upperBound {
      let end = line[start..<tags.upperBound].firstIndex(of: UInt8(ascii: ";")) ?? tags.upperBound
      let value = start + name.utf8CodeUnitCount + 1
      if value < end, line[value - 1] == UInt8(ascii: "="),
        line.baseAddress.map({ memcmp($0 + start, name.utf8Start, name.utf8CodeUnitCount) }) == 0
      {
        return UnsafeRawBufferPointer(rebasing: line[value..<end])
      }
      start = end + 1
    }
    return nil
  }
}
