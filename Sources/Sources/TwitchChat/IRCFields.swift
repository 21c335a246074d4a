import Glibc

/// Where the parts of an IRC line are: `@tags :nick!user@host COMMAND first second :last`.
///
/// Refers to the bytes of the line, and is valid as long as they are. Text is made only of what is asked for.
struct IRCFields {
  private let line: UnsafeRawBufferPointer
  private var tags = 0..<0
  private var prefix = 0..<0
  private let parameters: Range<Int>
  let command: String

  /// `nil` if the line has no command.
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
    // The longest command that Twitch has; a text this short takes no memory of its own.
    guard (1...15).contains(name.count) else { return nil }
    command = String(decoding: line[name], as: UTF8.self)
    parameters = offset..<line.count
  }

  /// The name before the `!` of the prefix.
  var nick: String {
    String(decoding: line[prefix].prefix { $0 != UInt8(ascii: "!") }, as: UTF8.self)
  }

  /// A parameter by its index; `nil` if there are fewer. O(length of the line).
  func parameter(_ index: Int) -> String? {
    var start = parameters.lowerBound
    for number in 0...index {
      guard start < parameters.upperBound else { return nil }
      if line[start] == UInt8(ascii: ":") {
        guard number == index else { return nil }
        return String(decoding: line[(start + 1)..<parameters.upperBound], as: UTF8.self)
      }
      let end = line[start..<parameters.upperBound].firstIndex(of: 0x20) ?? parameters.upperBound
      if number == index { return String(decoding: line[start..<end], as: UTF8.self) }
      start = end
      while start < parameters.upperBound, line[start] == 0x20 { start += 1 }
    }
    return nil
  }

  /// The channel that the first parameter names, without its `#`.
  var channel: String? {
    let start = parameters.lowerBound
    guard start < parameters.upperBound, line[start] == UInt8(ascii: "#") else {
      // A server may write the only parameter of a JOIN with a colon.
      return parameter(0).flatMap { $0.first == "#" ? String($0.dropFirst()) : nil }
    }
    let end = line[start..<parameters.upperBound].firstIndex(of: 0x20) ?? parameters.upperBound
    return String(decoding: line[(start + 1)..<end], as: UTF8.self)
  }

  /// The value of a tag as it is written; `nil` if it is absent or empty. O(length of the tags).
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
