/// Converts HTML to plain text, since some platforms send messages as HTML.
package enum HTMLText {
  /// Removes tags and resolves character references. Replaces an image by its description, such as
  /// the name of an emote. Takes O(length).
  package static func plain(_ html: String) -> String {
    let bytes = Array(html.utf8)
    guard bytes.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else {
      return html
    }
    // The position of the last `>`, after which no tag can end. Without this limit, the search for
    // the end of a tag would scan the rest of the text for each `<`.
    let lastEnd = bytes.lastIndex(of: UInt8(ascii: ">")) ?? -1
    var text: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "<"), index < lastEnd, beginsTag(bytes[index + 1]) {
        let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) ?? lastEnd
        append(tag: bytes[(index + 1)..<end], to: &text)
        index = end + 1
      } else {
        index += append(characterAt: bytes[index...], to: &text)
      }
    }
    // White space at the end results from closing a paragraph, not from the author.
    while let last = text.last, last == 0x20 || last == 0x0A { text.removeLast() }
    return String(decoding: text, as: UTF8.self)
  }

  private static func beginsTag(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "!")
  }

  private static func append(tag: ArraySlice<UInt8>, to text: inout [UInt8]) {
    let name = tag.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
      .map { $0 | 0x20 }
    let isBreak = name.elementsEqual("br".utf8) || tag.elementsEqual("/p".utf8)
    if isBreak, !text.isEmpty { text.append(UInt8(ascii: " ")) }
    guard name.elementsEqual("img".utf8), var words = description(in: tag) else { return }
    while !words.isEmpty { words = words.dropFirst(append(characterAt: words, to: &text)) }
  }

  private static func description(in tag: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = tag
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let value = rest[(equals + 1)...]
      guard let quote = value.first else { return nil }
      let isAlt = rest[..<equals].suffix(4).elementsEqual(" alt".utf8)
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
        if isAlt { return value.prefix { $0 != UInt8(ascii: " ") } }
        rest = value
        continue
      }
      let quoted = value.dropFirst()
      guard let end = quoted.firstIndex(of: quote) else { return nil }
      if isAlt { return quoted[..<end] }
      rest = quoted[(end + 1)...]
    }
    return nil
  }

  private static let names: [String: UInt8] = [
    "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"),
    "quot": UInt8(ascii: "\""), "apos": UInt8(ascii: "'"), "nbsp": UInt8(ascii: " "),
  ]

  /// The maximum length of a resolved character reference, without its delimiters.
  private static let longestName = 8

  /// Appends the next byte, or the character that a reference denotes. Returns the number of bytes
  /// consumed.
  private static func append(characterAt bytes: ArraySlice<UInt8>, to text: inout [UInt8]) -> Int {
    guard let byte = bytes.first else { return 1 }
    let rest = bytes.dropFirst().prefix(longestName + 1)
    guard byte == UInt8(ascii: "&"), let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
      text.append(byte)
      return 1
    }
    let name = String(decoding: rest[..<end], as: UTF8.self)
    if let known = names[name] {
      text.append(known)
    } else if let scalar = scalar(name) {
      text.append(contentsOf: String(Character(scalar)).utf8)
    } else {
      text.append(byte)
      return 1
    }
    return name.utf8.count + 2
  }

  /// Returns the character of a reference such as `#233` or `#xE9`.
  private static func scalar(_ name: String) -> Unicode.Scalar? {
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let isHexadecimal = digits.first == "x" || digits.first == "X"
    let number =
      isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
    return number.flatMap { $0 > 0 ? Unicode.Scalar($0) : nil }
  }
}
