import JSON

/// Describes files of unsupported formats, for error messages.
package enum FileAppearance {
  package static let supported =
    "native events, Twitch IRC, EventSub, and chats of Chatterino, TwitchDownloader, yt-dlp, chat-downloader and pytchat"

  package static let empty = "an empty file"

  private static let signatures: [(bytes: [UInt8], name: String)] = [
    (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"),
    ([0x28, 0xB5, 0x2F, 0xFD], "data compressed by zstd"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "data compressed by xz"),
    (Array("BZh".utf8), "data compressed by bzip2"),
    ([0x37, 0x7A, 0xBC, 0xAF], "a 7z archive"), (Array("%PDF".utf8), "a PDF"),
    (Array("SQLite format 3".utf8), "a database of SQLite"), ([0x1A, 0x45, 0xDF, 0xA3], "a video"),
    (Array("WEBVTT".utf8), "WebVTT subtitles"),
    (Array("[Script Info]".utf8), "SubStation Alpha subtitles"),
  ]

  /// Returns a description of a file by its first bytes, such as `a CSV table with the columns
  /// time, author and text`. Returns `nil` if the file looks like lines that the ingest socket
  /// accepts.
  package static func describe(_ head: some Collection<UInt8>) -> String? {
    let bytes = Array(head.prefix(PlatformFormat.headLength))
    if let known = signatures.first(where: { bytes.starts(with: $0.bytes) }) { return known.name }
    if bytes.dropFirst(4).starts(with: "ftyp".utf8) { return "a video" }
    if bytes.contains(0) { return "binary data" }
    let text = String(decoding: bytes, as: UTF8.self).drop(while: \.isWhitespace)
    guard let first = text.first else { return empty }
    let line = text.prefix { !$0.isNewline }
    switch first {
    case "<": return html(text)
    case "[" where isTimed(line): return "a chat log whose line 1 has a time in an unknown format"
    case "{", "[": return json(text)
    case "@", ":": return nil
    default: break
    }
    if let command = line.split(separator: " ").first, command.count > 3,
      command.allSatisfy({ $0.isASCII && $0.isUppercase }), line.contains(" ")
    {
      return nil
    }
    if line.allSatisfy(\.isNumber), text.contains(" --> ") { return "SubRip subtitles" }
    return table(line) ?? "text that begins with '\(clipped(line, to: 40))'"
  }

  /// Returns whether a line begins with a number in brackets, followed by words.
  private static func isTimed(_ line: Substring) -> Bool {
    guard let end = line.firstIndex(of: "]") else { return false }
    let rest = line[line.index(after: end)...]
    return rest.first == " " && rest.contains(where: \.isLetter)
      && line[..<end].contains(where: \.isNumber)
  }

  private static func html(_ text: Substring) -> String {
    let head = text.prefix(1_000).lowercased()
    return head.contains("<html") || head.contains("<!doctype html") ? "an HTML page" : "XML"
  }

  /// Describes JSON by the names of its first members. Returns `nil` for members of a native event.
  private static func json(_ text: Substring) -> String? {
    var names: [String] = []
    var rest = text
    while names.count < 4, let quote = rest.firstIndex(of: "\"") {
      rest = rest[rest.index(after: quote)...]
      guard let end = rest.firstIndex(of: "\"") else { break }
      let name = rest[..<end]
      rest = rest[rest.index(after: end)...]
      if rest.drop(while: \.isWhitespace).first == ":" { names.append(clipped(name, to: 20)) }
    }
    let line = text.prefix { !$0.isNewline }
    let value = JSONValue(lenient: Array(line.utf8))
    if text.first == "{", value.map({ $0["type"] != nil }) ?? line.contains("\"type\"") {
      return nil
    }
    guard !names.isEmpty else { return "JSON without members" }
    return "JSON with the members \(list(names))"
  }

  private static func table(_ line: Substring) -> String? {
    for (separator, name) in [
      ("\t", "a tab-separated table"), (",", "a CSV table"), (";", "a CSV table"),
    ] {
      let columns = line.split(separator: Character(separator), omittingEmptySubsequences: false)
      guard columns.count > 2, columns.allSatisfy({ $0.count <= 40 && !$0.contains(": ") }) else {
        continue
      }
      let names = columns.prefix(4).map { clipped($0.filter { $0 != "\"" }, to: 20) }
      return "\(name) with the columns \(list(names))"
    }
    return nil
  }

  private static func list(_ names: [String]) -> String {
    guard names.count > 1, let last = names.last else { return names.joined() }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  private static func clipped(_ text: some StringProtocol, to count: Int) -> String {
    let text = String(text.prefix(count + 1))
    return text.count > count ? text.prefix(count) + "…" : text
  }
}
