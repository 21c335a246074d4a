import ChatImport
import JSON
import Testing

/// Tests that a message keeps its text when other fields are missing or have unexpected values.
struct OddFieldTests {
  private static let words = "the words"

  private static let samples: [PlatformFormat: String] = [
    .youtube: """
    {"replayChatItemAction":{"actions":[{"addChatItemAction":{"item":{"liveChatTextMessageRenderer":{"id":"a",\
    "timestampUsec":"1795464000123456","authorExternalChannelId":"UC1","authorName":{"simpleText":"Bo"},\
    "message":{"runs":[{"text":"the words"},{"emoji":{"emojiId":"x","isCustomEmoji":true,"shortcuts":[":x:"]}}]},\
    "authorBadges":[{"liveChatAuthorBadgeRenderer":{"icon":{"iconType":"OWNER"}}}]}}}}],"videoOffsetTimeMsec":"1"}}
    """,
    .twitchDownloader: """
    {"FileInfo":{},"streamer":{"name":"Ada","login":"ada","id":1},"video":{"created_at":"2026-11-23T20:00:00Z"},\
    "comments":[{"_id":"a","created_at":"2026-11-23T20:00:00Z","content_offset_seconds":1,\
    "commenter":{"_id":"1","display_name":"Bo","name":"bo"},"message":{"body":"the words","bits_spent":1,\
    "fragments":[{"text":"the words","emoticon":{"emoticon_id":"25"}}],"is_action":true,"user_color":"#501A82",\
    "user_badges":[{"_id":"vip","version":"1"}],"user_notice_params":{"msg-id":"resub"},\
    "emoticons":[{"_id":"25","begin":0,"end":2}]}}]}
    """,
    .chatDownloader: """
    [{"action_type":"add_chat_item","author":{"id":"UC1","name":"bo","display_name":"Bo","colour":"#501A82",\
    "badges":[{"name":"vip","version":"1"}]},"message":"the words","message_id":"a","message_type":"text_message",\
    "timestamp":1795464000000000,"emotes":[{"id":"25","locations":"0-2"}],"bits":1,"money":{"text":"$1"},\
    "in_reply_to":{"message_id":"b"}}]
    """,
    .pytchat: """
    [{"author":{"channelId":"UC1","name":"Bo","isChatOwner":true},"message":"the words","id":"a",\
    "timestamp":1795464000000,"datetime":"2026-11-23 20:00:00","amountString":"$1","type":"textMessage"}]
    """,
  ]

  private static let notification = """
    {"metadata":{"message_id":"n","message_type":"notification","message_timestamp":"2026-11-23T20:00:00Z"},\
    "payload":{"subscription":{"type":"TYPE","version":"1"},"event":{"broadcaster_user_login":"ada",\
    "chatter_user_id":"7","chatter_user_login":"bo","chatter_user_name":"Bo","color":"#501A82",\
    "badges":[{"set_id":"vip","id":"1"}],"message_id":"a","notice_type":"NOTICE","resub":{"cumulative_months":3},\
    "cheer":{"bits":5},"reply":{"parent_message_id":"b"},"source_broadcaster_user_id":"9",\
    "message":{"text":"the words","fragments":[{"type":"emote","text":"the"},{"type":"text","text":" words"}]},\
    "target_user_id":"7","target_user_login":"bo","target_user_name":"Bo","bits":5,"viewers":3}}}
    """

  /// Types of EventSub, each with a part that its line must contain, and the members from which
  /// this part is made.
  static let eventSub: [(type: String, notice: String, line: String, needed: [String])] = [
    ("channel.chat.message", "", words, ["message", "text"]),
    ("channel.chat.notification", "resub", words, ["message", "text"]),
    ("channel.chat.notification", "watch_streak", words, ["message", "text"]),
    ("channel.chat.message_delete", "", #""id":"a""#, ["message_id"]),
    ("channel.chat.clear", "", "chat.clear", []),
    ("channel.raid", "", #""kind":"raid""#, []),
    ("channel.chat.clear_user_messages", "", "chat.timeout", []),
  ]

  @Test(arguments: eventSub)
  func `a notification keeps its content whatever value an unrelated field has`(
    type: String, notice: String, line: String, needed: [String]
  ) throws {
    let text = Self.notification.replacing("TYPE", with: type).replacing("NOTICE", with: notice)
    let sample = try JSONValue(parsing: text)
    let start = ["payload", "event"]
    for path in Self.paths(sample)
    where path.starts(with: start) && path.count > 2 && path[2] != "notice_type"
      && !(!needed.isEmpty && (start + needed).starts(with: path))
    {
      let absent = try Self.absent(path, in: sample, .eventSub)
      for value in Self.odd.map(Optional.some) + [nil] {
        let odd = try #require(Self.replacing(path[...], in: sample, with: value)).description
        let translated = Translated(.eventSub, odd)
        #expect(translated.rejected.isEmpty, "\(path) \(odd.prefix(900))")
        #expect(translated.lines.joined().contains(line), "\(path) \(odd.prefix(900))")
        Self.expectCount(translated, of: value, at: path, like: absent)
      }
    }
  }

  /// The members that must remain unchanged so that the text is found.
  private static let needed: [PlatformFormat: [String]] = [
    .youtube: [
      "replayChatItemAction", "actions", "0", "addChatItemAction", "item",
      "liveChatTextMessageRenderer", "message", "runs", "0", "text",
    ],
    .twitchDownloader: ["comments", "0", "message", "body"],
    .chatDownloader: ["0", "message"], .pytchat: ["0", "message"],
  ]

  /// Returns the translation of a sample without a member, or `nil` if the member makes no
  /// difference.
  private static func absent(
    _ path: [String], in sample: JSONValue, _ format: PlatformFormat
  ) throws -> Translated? {
    let absent = Translated(
      format, try #require(replacing(path[...], in: sample, with: nil)).description)
    return absent.lines == Translated(format, sample.description).lines ? nil : absent
  }

  /// Checks that an unusable value is counted: it gives the same output as no value, unlike a valid
  /// value.
  private static func expectCount(
    _ translated: Translated, of value: JSONValue?, at path: [String], like absent: Translated?
  ) {
    // These values are equivalent to an absent member. TwitchDownloader writes a missing time as a
    // time in the year 1.
    let isMissing = path.last == "created_at" && value?.stringValue?.hasPrefix("0001") == true
    // A fragment of an unknown type is text.
    let isOther = path.last == "type" && path.contains("fragments") && value?.stringValue != nil
    guard let absent, let value, !isMissing, !isOther,
      ![.null, false, 0, "", " ", [], .object([:])].contains(value)
    else { return }
    #expect(
      translated.lines != absent.lines || translated.unknown != absent.unknown,
      "\(path) \(value.description.prefix(60)) is not counted")
  }

  private static let odd: [JSONValue] = [
    .null, true, false, 0, -1, 7, .number(0.5), .number(1e300), .number(-1e300), .integer(.max), "",
    " ",
    "text", "-5", "99999999999999999999", "0001-01-01T00:00:00Z", "\u{0}\u{1B}[31m\u{202E}", [],
    .object([:]),
    .array([.null, "x", []]), .string(String(repeating: "long ", count: 20_000)),
  ]

  /// Returns all paths of a value.
  private static func paths(_ value: JSONValue) -> [[String]] {
    let members: [(String, JSONValue)] =
      switch value {
      case .object(let members): members.map { ($0.key.text, $0.value) }
      case .array(let elements): elements.enumerated().map { (String($0.offset), $0.element) }
      default: []
      }
    return members.flatMap { name, member in
      [[name]] + paths(member).map { [name] + $0 }
    }
  }

  private static func replacing(
    _ path: ArraySlice<String>, in value: JSONValue, with new: JSONValue?
  ) -> JSONValue? {
    guard let first = path.first else { return new }
    switch value {
    case .object(var members):
      let name = JSONName(first)
      members[name] = members[name].flatMap { replacing(path.dropFirst(), in: $0, with: new) }
      return .object(members)
    case .array(var elements):
      guard let index = Int(first), elements.indices.contains(index) else { return value }
      if let element = replacing(path.dropFirst(), in: elements[index], with: new) {
        elements[index] = element
      } else {
        elements.remove(at: index)
      }
      return .array(elements)
    default: return value
    }
  }

  @Test(arguments: [
    PlatformFormat.youtube, .twitchDownloader, .chatDownloader, .pytchat,
  ])
  func `a chat message keeps its text whatever value an unrelated field has`(format: PlatformFormat)
    throws
  {
    let sample = try JSONValue(parsing: try #require(Self.samples[format]))
    let needed = try #require(Self.needed[format])
    #expect(Translated(format, sample.description).lines.joined().contains(Self.words))
    for path in Self.paths(sample) where !needed.starts(with: path) {
      let absent = try Self.absent(path, in: sample, format)
      for value in Self.odd.map(Optional.some) + [nil] {
        // A value may turn the message into a notice or a deletion.
        let text = try #require(Self.replacing(path[...], in: sample, with: value)).description
        let translated = Translated(format, text)
        #expect(translated.rejected.isEmpty, "\(path) \(text.prefix(600))")
        #expect(
          translated.lines.joined().contains(Self.words), "\(path) \(text.prefix(600))")
        Self.expectCount(translated, of: value, at: path, like: absent)
      }
    }
  }
}

struct LongTextTests {
  private static let long = String(repeating: "word ", count: 13_000)

  @Test(arguments: [
    (
      PlatformFormat.youtube,
      #"{"addChatItemAction":{"item":{"liveChatTextMessageRenderer":{"id":"a","message":{"simpleText":"LONG"}}}}}"#
    ),
    (
      .twitchDownloader,
      #"{"FileInfo":{},"streamer":{"name":"a"},"comments":[{"_id":"a","message":{"body":"LONG"}}]}"#
    ),
    (.chatDownloader, #"[{"author":{"name":"bo"},"message":"LONG","message_id":"a"}]"#),
    (.chatterino, "# Start logging at 2026-11-23 20:00:00 UTC\n[20:00:01] bo: LONG"),
    (
      .eventSub,
      #"{"subscription":{"type":"channel.chat.message"},"event":{"message_id":"a","message":{"text":"LONG"}}}"#
    ),
    (
      .eventSub,
      #"{"subscription":{"type":"channel.channel_points_custom_reward_redemption.add"},"event":{"user_id":"7","user_input":"LONG","reward":{"title":"t"}}}"#
    ),
  ])
  func `a text that does not fit into a line is truncated, and the truncation is counted`(
    format: PlatformFormat, sample: String
  ) {
    let translated = Translated(format, sample.replacing("LONG", with: Self.long))
    #expect(translated.rejected.isEmpty)
    #expect(translated.lines.count == 1 && translated.lines[0].contains("word word"))
    #expect(translated.unknown == ["end of a text that is too long": 1])
    #expect(Translated(format, sample).unknown.isEmpty)
  }
}

struct TextEncodingTests {
  private func convert(_ bytes: [UInt8], pieces: Int) -> String {
    var encoding = TextEncoding()
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { piece in
        encoding.convert(piece) { text.append(contentsOf: $0) }
      }
    }
    encoding.finish { text.append(contentsOf: $0) }
    return String(decoding: text, as: UTF8.self)
  }

  private static let text = "{\"text\":\"한글 😀 e\u{301}\"}\n"
  private static let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
  private static let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }

  @Test(arguments: [1, 2, 3, 5, 1_000])
  func `a file has the same text in each encoding, read in pieces of any size`(pieces: Int) {
    let inputs: [[UInt8]] = [
      Array(Self.text.utf8), [0xEF, 0xBB, 0xBF] + Self.text.utf8, [0xFF, 0xFE] + Self.little,
      [0xFE, 0xFF] + Self.big, Self.little, Self.big,
    ]
    for input in inputs {
      #expect(convert(input, pieces: pieces).unicodeScalars.elementsEqual(Self.text.unicodeScalars))
    }
  }

  @Test func `binary data is not converted, and an incomplete character becomes U+FFFD`() {
    #expect(convert([], pieces: 1) == "")
    #expect(convert([0xEF, 0xBB], pieces: 1) == "\u{FFFD}")
    #expect(convert(Array("a".utf8), pieces: 1) == "a")
    #expect(convert([0xFF, 0xFE, 0x41, 0, 0x3D, 0xD8], pieces: 1) == "A\u{FFFD}")
    #expect(convert([0xFF, 0xFE, 0x41, 0, 0x42], pieces: 1) == "A")
    #expect(convert([0, 0, 0, 0, 0x41], pieces: 2) == "\0\0\0\0A")
  }
}

struct FileAppearanceTests {
  @Test(
    arguments: [
      ("", "an empty file"), ("<!DOCTYPE html>\n<html>", "an HTML page"),
      ("<chat><p/></chat>", "XML"),
      (
        "time,user_name,message\n1,a,b\n",
        "a CSV table with the columns time, user_name and message"
      ),
      ("a;b;c;d;e\n", "a CSV table with the columns a, b, c and d"),
      ("{\n  \"guild\": {\"id\": \"1\"}\n}", "JSON with the members guild and id"),
      ("[1, 2]", "JSON without members"),
      ("1\n00:00:01,000 --> 00:00:02,000\nhi", "SubRip subtitles"),
      ("Dear diary,", "text that begins with 'Dear diary,'"), ("PK\u{3}\u{4}xx", "a ZIP archive"),
      ("\0\0\0\u{18}ftypmp42", "a video"), ("a\0b", "binary data"),
      (#"{"type":"viewers","count":1}"#, nil), ("@a=b :x PRIVMSG #c :d", nil),
      (":x PRIVMSG #c :d", nil),
      ("PRIVMSG #c :d", nil),
      ("[20.00] bo: hi", "a chat log whose line 1 has a time in an unknown format"),
    ] as [(String, String?)])
  func `a file in no known format is described by its first bytes`(
    text: String, description: String?
  ) {
    #expect(FileAppearance.describe(Array(text.utf8)) == description)
  }
}

struct LenientJSONTests {
  @Test(arguments: [
    (#"{"a":"x\ud83d"}"#, "x\u{FFFD}"), (#"{"a":"\udc00x"}"#, "\u{FFFD}x"),
    (#"{"a":"\ud83d\ude00"}"#, "😀"), (#"{"a":"\\ud83d"}"#, #"\ud83d"#),
    (#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{FFFD}😀"),
  ])
  func `an unpaired surrogate in JSON is replaced by one character`(json: String, text: String) {
    #expect(JSONValue(lenient: Array(json.utf8))?["a"]?.stringValue == text)
  }

  @Test
  func `an invalid byte in JSON is replaced by one character, and malformed JSON is rejected`() {
    let bytes = Array(#"{"a":""#.utf8) + [0xFF] + Array(#"x"}"#.utf8)
    #expect(JSONValue(lenient: bytes)?["a"]?.stringValue == "\u{FFFD}x")
    #expect(JSONValue(lenient: Array("{".utf8)) == nil)
  }
}
