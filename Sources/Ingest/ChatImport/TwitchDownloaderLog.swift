import JSON

/// Translates a chat that TwitchDownloader saved as JSON: one document with a list `comments`.
///
/// The document's members may have any order and size. Embedded pictures are skipped. Comments that
/// precede the channel's name are kept until the name is known, up to ``longestWait`` bytes.
struct TwitchDownloaderLog: Sendable {
  private static let longestWait = 64 << 20

  /// A time. If it is unknown, TwitchDownloader writes a time in the year 1.
  private static let timeShape = JSONShape.test { value in
    value.stringValue.map {
      $0.hasPrefix("0001-01-01") || PlatformTime.milliseconds($0, orUTC: true) != nil
    } ?? false
  }
  private static let streamerShape = JSONShape.object(["login": .channel, "name": .text])
  private static let videoShape = JSONShape.object([
    "created_at": timeShape, "channel": .object(["name": .text]),
  ])
  private static let shape = JSONShape.object([
    "_id": .identifier,
    "created_at": timeShape,
    "content_offset_seconds": .test { JSONValue.object(["s": $0]).milliseconds("s") != nil },
    "commenter": .object(["_id": .identifier, "display_name": .text, "name": .text]),
    "message": .object([
      "body": .text, "bits_spent": .count, "is_action": .truth, "user_color": .color,
      "fragments": .list(
        .object(["text": .text, "emoticon": .object(["emoticon_id": .identifier])])),
      "user_badges": .list(.object(["_id": .identifier, "version": .identifier])),
      "user_notice_params": .object(["msg-id": .text, "msg_id": .text]),
      "emoticons": .list(.object([:])),
    ]),
  ])

  private var elements = JSONArrayReader(list: "comments", members: ["streamer", "video"])
  private var room: String?
  private var isRoomKnown = false
  /// The time at which the video begins, in milliseconds since 1970.
  private var begin: Int?
  private var waiting: [[UInt8]] = []
  private var waitingBytes = 0
  private var number = 0

  mutating func receive(_ piece: UnsafeRawBufferPointer, into lines: inout NativeLines) {
    // Swapping instead of copying avoids a duplicate of the bytes of an unfinished object.
    var elements = JSONArrayReader()
    swap(&elements, &self.elements)
    elements.receive(piece) { found in
      switch found {
      case .tooLong: lines.count(unknown: "too long")
      case .other: lines.count(unknown: "malformed")
      case .member(let name, let bytes): member(name, bytes, &lines)
      case .element(let bytes):
        guard !isRoomKnown, waitingBytes < Self.longestWait else {
          return comment(bytes, &lines)
        }
        waiting.append(bytes)
        waitingBytes += bytes.count
      }
    }
    self.elements = elements
  }

  /// Translates the comments that still wait for the channel's name.
  mutating func finish(into lines: inout NativeLines) {
    if !elements.hasList { lines.count(unknown: "no comments") }
    for bytes in waiting { comment(bytes, &lines) }
    waiting = []
  }

  private mutating func member(_ name: String, _ bytes: [UInt8], _ lines: inout NativeLines) {
    guard let value = JSONValue(lenient: bytes) else { return }
    lines.count(
      misfitsOf: value, name == "video" ? Self.videoShape : Self.streamerShape, named: name)
    if name == "video" {
      begin = value.time("created_at", orUTC: true)
      room = room ?? value["channel"]?.text("name")?.channelRoom
    } else {
      room = value.text("login")?.channelRoom ?? value.text("name")?.channelRoom
      isRoomKnown = true
    }
  }

  private mutating func comment(_ bytes: [UInt8], _ lines: inout NativeLines) {
    number += 1
    guard let comment = JSONValue(lenient: bytes) else { return lines.count(unknown: "malformed") }
    guard let message = comment["message"], message.objectValue != nil else {
      return lines.count(unknown: "no message")
    }
    lines.count(misfitsOf: comment, Self.shape, named: "comment")
    let fragments = TwitchFragments(message["fragments"])
    let text = message.text("body") ?? fragments.text
    // The positions of emotes are valid only for the same text.
    if !fragments.emotes.isEmpty, !fragments.text.utf8.elementsEqual(text.utf8) {
      lines.count(unusable: "fragments")
    }
    let fitting = lines.fitting(text)
    let (emotes, unusable) = fragments.emotes(of: text, listed: message["emoticons"])
    for _ in 0..<unusable { lines.count(unusable: "emoticons") }
    let time = time(of: comment)
    let bits = message.count("bits_spent") ?? 0
    let notice = message["user_notice_params"]
    lines.add("chat.message", room: room, at: time) {
      $0.add(
        "id",
        comment.anyText("_id")?.clipped
          ?? "comment-\(number)-\(StableHash.hex(text, "\(time ?? 0)"))")
      $0.add(user: Self.user(comment["commenter"], message))
      $0.add("text", fitting)
      $0.add("kind", (notice?.text("msg-id") ?? notice?.text("msg_id"))?.clipped)
      if message["is_action"]?.boolValue == true { $0.add("action", true) }
      if bits > 0 { $0.add("bits", bits) }
      $0.add(emotes: emotes)
    }
  }

  /// Returns the author of a comment, or an unknown author, because Twitch names no author for
  /// deleted accounts.
  private static func user(_ commenter: JSONValue?, _ message: JSONValue) -> PlatformUser {
    let badges = (message["user_badges"]?.arrayValue ?? []).compactMap { badge in
      badge.anyText("_id").map { "\($0)/\(badge.anyText("version") ?? "1")" }
    }
    let name = commenter?.text("display_name") ?? commenter?.text("name")
    return PlatformUser(
      id: commenter?.anyText("_id") ?? name?.lowercased() ?? "unknown", name: name,
      badges: badges.joined(separator: ","), color: message.text("user_color"))
      ?? PlatformUser.unknown
  }

  /// Returns the time at which a comment was written. Comments of clips have only an offset from
  /// the start of the clip; their `created_at` is in the year 1.
  private mutating func time(of comment: JSONValue) -> Int? {
    let distance = comment.milliseconds("content_offset_seconds")
    guard let time = comment.time("created_at", orUTC: true) else {
      return begin.flatMap { begin in distance.map { begin + $0 } }
    }
    if begin == nil, let distance { begin = time - distance }
    return time
  }
}

/// The text of a Twitch message in pieces, some of which are emotes.
struct TwitchFragments {
  private(set) var text = ""
  /// The start and end of each emote, in Unicode scalars.
  private(set) var emotes: [Int] = []

  init(_ fragments: JSONValue?) {
    var position = 0
    for fragment in fragments?.arrayValue ?? [] {
      let piece = fragment["text"]?.stringValue ?? ""
      let end = position + piece.unicodeScalars.count
      if fragment["emoticon"]?.anyText("emoticon_id") != nil, end > position {
        emotes += [position, end]
      }
      text += piece
      position = end
    }
  }

  /// Returns the emotes of the message's fragments if these form exactly `text`. Otherwise, returns
  /// the emotes of the message's list, whose positions count UTF-16 units. Also returns the number
  /// of list entries without a position in the text.
  func emotes(of text: String, listed: JSONValue?) -> (positions: [Int], unusable: Int) {
    if self.text.utf8.elementsEqual(text.utf8) { return (emotes, 0) }
    let units = text.utf16
    let listed = (listed?.arrayValue ?? []).filter { $0.objectValue != nil }
    let positions = listed.flatMap { emote -> [Int] in
      guard let begin = emote.count("begin"), let end = emote.count("end"), begin <= end,
        end < units.count
      else { return [] }
      let first = units.index(units.startIndex, offsetBy: begin)
      let last = units.index(first, offsetBy: end - begin + 1)
      let position = text.unicodeScalars[..<first].count
      return [position, position + text.unicodeScalars[first..<last].count]
    }
    return (positions, listed.count - positions.count / 2)
  }
}
