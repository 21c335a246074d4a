import JSON

/// A chat that TwitchDownloader has saved as JSON: one document, in which `comments` is a list.
///
/// It may be larger than memory, so the comments are found by their braces and read one by one.
struct TwitchDownloaderLog: Sendable {
  /// The longest comment, and how far the list may be from the beginning.
  private static let longestObject = 1 << 20

  private enum State: Sendable {
    /// What precedes the list: who streamed.
    case head
    case between
    case comment(depth: Int)
    case ended
  }

  private var state = State.head
  private var bytes: [UInt8] = []
  private var isInText = false
  private var isEscaped = false
  private var isTooLong = false
  private var room: String?

  mutating func receive(_ piece: UnsafeRawBufferPointer, into lines: inout NativeLines) {
    for byte in piece { take(byte, &lines) }
  }

  private mutating func take(_ byte: UInt8, _ lines: inout NativeLines) {
    switch state {
    case .ended: return
    case .head:
      bytes.append(byte)
      if byte == UInt8(ascii: "["), Self.beginsComments(bytes) {
        room = Self.streamer(bytes)
        bytes = []
        state = .between
      } else if bytes.count > Self.longestObject {
        lines.note(unknown: "no comments")
        state = .ended
      }
    case .between:
      if byte == UInt8(ascii: "{") {
        bytes = [byte]
        isTooLong = false
        state = .comment(depth: 1)
      } else if byte == UInt8(ascii: "]") {
        state = .ended
      }
    case .comment(let depth):
      if bytes.count < Self.longestObject { bytes.append(byte) } else { isTooLong = true }
      let depth = depth + change(byte)
      state = depth == 0 ? .between : .comment(depth: depth)
      guard depth == 0 else { return }
      if !isTooLong, let comment = try? JSONValue(parsing: bytes) {
        translate(comment, &lines)
      } else {
        lines.note(unknown: isTooLong ? "too long" : "malformed")
      }
    }
  }

  /// By how much a byte changes the depth.
  private mutating func change(_ byte: UInt8) -> Int {
    if isEscaped {
      isEscaped = false
      return 0
    }
    switch byte {
    case UInt8(ascii: "\\") where isInText: isEscaped = true
    case UInt8(ascii: "\""): isInText.toggle()
    case UInt8(ascii: "{") where !isInText: return 1
    case UInt8(ascii: "}") where !isInText: return -1
    default: break
    }
    return 0
  }

  private static func beginsComments(_ bytes: [UInt8]) -> Bool {
    let end = String(decoding: bytes.suffix(64), as: UTF8.self).filter { !$0.isWhitespace }
    return end.hasSuffix("\"comments\":[")
  }

  /// The room of the channel, from what precedes the comments.
  private static func streamer(_ head: [UInt8]) -> String? {
    let whole = head + Array("]}".utf8)
    return (try? JSONValue(parsing: whole))?["streamer"]?.text("name")?.channelRoom
  }

  private func translate(_ comment: JSONValue, _ lines: inout NativeLines) {
    let (commenter, message) = (comment["commenter"], comment["message"])
    let badges = (message?["user_badges"]?.arrayValue ?? []).compactMap { badge in
      badge.text("_id").map { "\($0)/\(badge.text("version") ?? "1")" }
    }
    guard let id = comment.text("_id"), let message,
      let user = PlatformUser(
        id: commenter?.text("_id"), name: commenter?.text("display_name"),
        badges: badges.joined(separator: ","), color: message.text("user_color"))
    else { return lines.note(unknown: "no author") }
    // The chat of a clip has no time of its own, only its distance from the beginning.
    let time =
      comment.time("created_at")
      ?? comment["content_offset_seconds"].flatMap { _ in
        comment.count("content_offset_seconds").map { $0 * 1_000 }
      }
    lines.add("chat.message", room: room, at: time) {
      $0.add("id", id.clipped)
      $0.add(user: user)
      $0.add("text", message["body"]?.stringValue ?? "")
      if let bits = message.count("bits_spent"), bits > 0 { $0.add("bits", bits) }
    }
  }
}
