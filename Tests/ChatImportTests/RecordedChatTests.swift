import ChatImport
import LiveEvents
import TestSupport
import Testing

struct YouTubeChatTests {
  /// Returns a line of a replay.
  private static func line(_ action: String) -> String {
    #"{"clickTrackingParams":"x","replayChatItemAction":{"actions":[\#(action)],"#
      + #""videoOffsetTimeMsec":"5000"}}"#
  }

  private static func item(_ renderer: String, _ members: String) -> String {
    line(
      #"{"clickTrackingParams":"x","addChatItemAction":{"item":{"\#(renderer)":{"id":"a","#
        + #""timestampUsec":"1795464000123456","authorExternalChannelId":"UC1","#
        + #""authorName":{"simpleText":"Bo"}\#(members)}},"clientId":"c"}}"#)
  }

  private static let start = #""ts":1795464000123"#
  private static let bo = #""user":{"id":"UC1","name":"Bo"}"#

  @Test(arguments: [
    (
      item(
        "liveChatTextMessageRenderer",
        #","message":{"runs":[{"text":"hi "},{"emoji":{"emojiId":"😀"}},{"emoji":{"emojiId":"UC/x","isCustomEmoji":true,"shortcuts":[":wave:"]}}]},"authorBadges":[{"liveChatAuthorBadgeRenderer":{"icon":{"iconType":"MODERATOR"}}},{"liveChatAuthorBadgeRenderer":{"customThumbnail":{},"tooltip":"Member"}}]"#
      ),
      [
        #"{"type":"chat.message",\#(start),"id":"a","user":{"id":"UC1","name":"Bo","badges":"moderator/1,member/1"},"text":"hi 😀:wave:","emotes":[4,10]}"#
      ]
    ),
    (
      item(
        "liveChatPaidMessageRenderer",
        #","purchaseAmountText":{"simpleText":"$5.00"},"message":{"runs":[{"text":"yay"}]}"#),
      [
        #"{"type":"chat.message",\#(start),"id":"a",\#(bo),"text":"yay"}"#,
        #"{"type":"announcement",\#(start),"id":"a/paid",\#(bo),"text":"Super Chat $5.00"}"#,
      ]
    ),
    (
      item("liveChatPaidStickerRenderer", #","purchaseAmountText":{"simpleText":"2,00 €"}"#),
      [#"{"type":"announcement",\#(start),"id":"a/paid",\#(bo),"text":"Super Sticker 2,00 €"}"#]
    ),
    (
      item("liveChatMembershipItemRenderer", #","headerSubtext":{"runs":[{"text":"Welcome!"}]}"#),
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"subscribe",\#(bo),"count":1}"#]
    ),
    (
      item(
        "liveChatMembershipItemRenderer",
        #","headerPrimaryText":{"runs":[{"text":"Member for "},{"text":"6"},{"text":" months"}]}"#),
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"resubscribe",\#(bo),"count":6}"#]
    ),
    (
      item(
        "liveChatSponsorshipsGiftPurchaseAnnouncementRenderer",
        #","header":{"liveChatSponsorshipsHeaderRenderer":{"authorName":{"simpleText":"Bo"},"primaryText":{"runs":[{"text":"Gifted "},{"text":"1,000"},{"text":" memberships"}]}}}"#
      ),
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"giftBomb",\#(bo),"count":1000}"#]
    ),
    (
      item("liveChatSponsorshipsGiftRedemptionAnnouncementRenderer", ""),
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"subscribe",\#(bo),"count":1}"#]
    ),
    (item("liveChatPlaceholderItemRenderer", ""), []),
    (line(#"{"addLiveChatTickerItemAction":{"item":{}}}"#), []),
    (
      line(#"{"markChatItemAsDeletedAction":{"targetItemId":"a"}}"#),
      [#"{"type":"chat.delete","id":"a"}"#]
    ),
    (
      line(#"{"removeChatItemAction":{"targetItemId":"a"}}"#),
      [#"{"type":"chat.delete","id":"a"}"#]
    ),
    (
      line(#"{"markChatItemsByAuthorAsDeletedAction":{"externalChannelId":"UC1"}}"#),
      [#"{"type":"chat.timeout","user":{"id":"UC1","name":"UC1"}}"#]
    ),
    (
      line(
        #"{"addBannerToLiveChatCommand":{"bannerRenderer":{"liveChatBannerRenderer":{"contents":{"liveChatTextMessageRenderer":{"id":"a","authorExternalChannelId":"UC1","authorName":{"simpleText":"Bo"},"message":{"runs":[{"text":"Rules"}]}}}}}}}"#
      ),
      [#"{"type":"announcement","id":"a/pinned",\#(bo),"text":"Rules"}"#]
    ),
    (
      line(
        #"{"replaceChatItemAction":{"targetItemId":"b","replacementItem":{"liveChatTextMessageRenderer":{"id":"b","authorExternalChannelId":"UC1","authorName":{"simpleText":"Bo"},"message":{"simpleText":"late"}}}}}"#
      ),
      [#"{"type":"chat.message","id":"b",\#(bo),"text":"late"}"#]
    ),
  ])
  func `each recorded chat action is translated into the expected native lines`(
    text: String, lines: [String]
  ) {
    let translated = Translated(.youtube, text)
    #expect(translated.lines == lines)
    #expect(translated.platforms == (lines.isEmpty ? [] : ["youtube"]))
    #expect(translated.unknown.isEmpty)
    #expect(translated.rejected.isEmpty)
  }

  @Test func `deletions in a recorded chat get timestamps relative to those of the messages`() {
    let message = Self.item("liveChatTextMessageRenderer", #","message":{"simpleText":"hi"}"#)
    let deletion =
      #"{"replayChatItemAction":{"actions":[{"removeChatItemAction":{"targetItemId":"a"}}]"#
    let lines = [
      message, deletion + #","videoOffsetTimeMsec":"7000"}}"#,
      deletion + #"},"videoOffsetTimeMsec":"7001","isLive":true}"#,
      deletion + #","videoOffsetTimeMsec":6000}}"#, deletion + "}}",
    ]
    let translated = Translated(.youtube, lines.joined(separator: "\n"))
    #expect(
      translated.lines.dropFirst() == [
        #"{"type":"chat.delete","ts":1795464002123,"id":"a"}"#,
        #"{"type":"chat.delete","ts":1795464002124,"id":"a"}"#,
        #"{"type":"chat.delete","ts":1795464001123,"id":"a"}"#,
        #"{"type":"chat.delete","ts":1795464000123,"id":"a"}"#,
      ])
  }

  @Test func `unknown actions and items of a recorded chat are counted by name`() {
    let translated = Translated(
      .youtube,
      [
        Self.item("liveChatConfettiRenderer", ""), Self.line(#"{"danceAction":{}}"#), "{}", "x",
        Self.item("liveChatTextMessageRenderer", #","message":{"runs":[{"text":"still"}]}"#),
      ].joined(separator: "\r\n"))
    #expect(translated.lines.count == 1)
    #expect(
      translated.unknown == [
        "liveChatConfettiRenderer": 1, "danceAction": 1, "no chat action": 1, "malformed": 1,
      ])
  }
}

struct ChatterinoLogTests {
  @Test func `messages, bans and stream states of a Chatterino log are read across midnight`() {
    let translated = Translated(
      .chatterino,
      """
      # Start logging at 2026-11-23 20:00:00 CET
      [20:00:01]  bo: hi: there
      [20:00:02] ぼう bo_2: hello
      [20:00:03] mod: bye
      [20:00:04] bo has been timed out for 1h 10m.
      [20:00:05] bo has been permanently banned.
      [20:00:06] Chat has been cleared by a moderator.
      [20:00:07] ada is live!
      [00:00:01] bo: late
      [00:00:02] eve subscribed at Tier 1.
      # Stop logging.
      """)
    let identifier = /"id":"chatterino-(\d+-\d+)-[0-9a-f]{16}"/
    #expect(
      translated.lines.map { line in
        line.replacing(identifier) { match in #""id":"\#(match.output.1)""# }
      } == [
        #"{"type":"chat.message","ts":1795464001000,"id":"20780-2","user":{"id":"bo","name":"bo"},"text":"hi: there"}"#,
        #"{"type":"chat.message","ts":1795464002000,"id":"20780-3","user":{"id":"bo_2","name":"ぼう"},"text":"hello"}"#,
        #"{"type":"chat.message","ts":1795464003000,"id":"20780-4","user":{"id":"mod","name":"mod"},"text":"bye"}"#,
        #"{"type":"chat.timeout","ts":1795464004000,"user":{"id":"bo","name":"bo"},"seconds":4200}"#,
        #"{"type":"chat.timeout","ts":1795464005000,"user":{"id":"bo","name":"bo"}}"#,
        #"{"type":"chat.clear","ts":1795464006000}"#,
        #"{"type":"stream","ts":1795464007000,"state":"live"}"#,
        #"{"type":"chat.message","ts":1795478401000,"id":"20781-9","user":{"id":"bo","name":"bo"},"text":"late"}"#,
        #"{"type":"chat.notice","ts":1795478402000,"id":"20781-10","kind":"subscribe","user":{"id":"eve","name":"eve"},"count":1}"#,
      ])
    #expect(translated.unknown.isEmpty)
    #expect(translated.rejected.isEmpty)
  }

  @Test(arguments: [
    ("CET", "20:00:01", 68_401), ("UTC", "20:00:01", 72_001), ("GMT", "20:00:01", 72_001),
    ("CET", "2026-11-23T20:00:01Z", 72_001), ("CET", "2026-11-23 20:00:01", 68_401),
    ("", "20:00:01", 68_401),
  ])
  func `times in a log use the given zone unless the log names UTC or the line names a zone`(
    name: String, time: String, seconds: Int
  ) {
    let log = "# Start logging at 2026-11-23 00:00:00 \(name)\n[\(time)] bo: hi"
    let translated = Translated(.chatterino, log, zone: LogZone { _ in 3_600 })
    #expect(translated.events.map(\.timestamp) == [Timestamp(1_795_392_000 + seconds) * 1_000])
  }

  @Test
  func `a log has the same identifiers in each translation, and other logs have others`() {
    let log = { (name: String) in
      Translated(.chatterino, "# Start logging at 2026-11-23 20:00:00 CET\n[20:00:01] \(name): hi")
        .lines
    }
    #expect(log("bo") == log("bo"))
    #expect(log("bo") != log("eve"))
    #expect(Set([log("bo"), log("eve")].joined().map { $0.prefix(80) }).count == 2)
  }

  @Test(
    arguments: [
      ("20:00", 72_000_000), ("20:00:01", 72_001_000), ("20:00:01.5", 72_001_500),
      ("8:00 PM", 72_000_000),
      ("8:00:01.250 pm", 72_001_250), ("12:00 AM", 0), ("12:00 p.m.", 43_200_000), ("0:00", 0),
      ("2026-11-23 20:00:01", 72_001_000), ("2026-11-23T20:00:01+01:00", 68_401_000),
      ("24:00", nil), ("20.00", nil), ("20:60", nil), ("13:00 PM", nil), ("0:00 AM", nil),
      ("20:0", nil),
      ("20:00:01 XM", nil), ("2026-13-01 20:00", nil), ("2026-11-23", nil), ("1795464000", nil),
      ("", nil),
    ] as [(String, Int?)])
  func `times in a log are read in all formats that Chatterino offers`(
    time: String, milliseconds: Int?
  ) {
    let log = "# Start logging at 2026-11-23 00:00:00 CET\n[\(time)] bo: hi\n[20:00:02] bo: bye"
    let translated = Translated(.chatterino, log)
    guard let milliseconds else {
      #expect(translated.lines.isEmpty)
      #expect(translated.failure?.hasPrefix("line 2 begins with '[\(time)]'") == true)
      return
    }
    #expect(
      translated.lines.first?.contains(#""ts":\#(1_795_392_000_000 + milliseconds),"#) == true)
    #expect(translated.failure == nil)
  }
}

struct TwitchDownloaderLogTests {
  private static let text = #"""
    {"FileInfo":{"Version":{"Major":1}},"streamer":{"name":"Ada","id":1},
     "video":{"title":"[{\"comments\":","start":0},
     "comments":[
      {"_id":"a","created_at":"2026-11-23T20:00:00.5Z","channel_id":"1","content_offset_seconds":3,
       "commenter":{"display_name":"Bo","_id":"7","name":"bo"},
       "message":{"body":"a \"brace } and \\","bits_spent":0,
         "user_badges":[{"_id":"vip","version":"1"}],"fragments":[{"text":"x"}]}},
      {"_id":"b","content_offset_seconds":4,"commenter":{"display_name":"Eve","_id":"8"},
       "message":{"body":"cheer","bits_spent":100,"user_badges":[]}},
      {"_id":"c","commenter":null,"message":{"body":"gone"}}
     ],"embeddedData":{"comments":[{"_id":"d"}]}}
    """#

  @Test(arguments: [1, 7, 64, 100_000])
  func `comments of a chat file are read one after another, in pieces of any size`(pieces: Int) {
    let translated = Translated(.twitchDownloader, Self.text, pieces: pieces)
    #expect(
      translated.lines == [
        #"{"type":"chat.message","room":"ada","ts":1795464000500,"id":"a","user":{"id":"7","name":"Bo","badges":"vip/1"},"text":"a \"brace } and \\"}"#,
        #"{"type":"chat.message","room":"ada","ts":1795464001500,"id":"b","user":{"id":"8","name":"Eve"},"text":"cheer","bits":100}"#,
        #"{"type":"chat.message","room":"ada","id":"c","user":{"id":"unknown","name":"unknown"},"text":"gone"}"#,
      ])
    #expect(translated.platforms == ["twitch"])
    #expect(translated.unknown.isEmpty)
    #expect(translated.rejected.isEmpty)
  }
}

extension TwitchDownloaderLogTests {
  @Test func `embedded pictures of any size may precede the comments of a chat file`() {
    let picture = String(repeating: "iVBORw0KGgo=", count: 200_000)
    let text =
      #"{"embeddedData":{"firstParty":[{"data":"\#(picture)"}],"comments":[{"_id":"x"}]},"#
      + #""streamer":{"name":"Ada"},"comments":[{"_id":"a","message":{"body":"hi"}}]}"#
    let translated = Translated(.twitchDownloader, text, pieces: 10_000)
    #expect(translated.lines.count == 1)
    #expect(translated.lines.first?.contains(#""room":"ada","id":"a""#) == true)
  }
}

struct RecognitionTests {
  @Test(
    arguments: [
      (#"{"clickTrackingParams":"x","replayChatItemAction":{}}"#, PlatformFormat.youtube),
      (#"{"metadata":{"message_type":"session_welcome"},"payload":{}}"#, .eventSub),
      (#"{"subscription":{"type":"x","condition":{}},"event":{}}"#, .eventSub),
      ("# Start logging at 2026-11-23 20:00:00 CET\n", .chatterino),
      ("[20:00:01] bo: hi\n", .chatterino),
      ("{\n  \"FileInfo\": {", .twitchDownloader),
      (#"{"streamer":{"name":"a","id":1},"comments":[{"#, .twitchDownloader),
      ("\u{FEFF}{\"FileInfo\":{", .twitchDownloader),
      (#"{"embeddedData":{"firstParty":["#, .twitchDownloader),
      (#"{"comments":["#, .twitchDownloader),
      ("[13:39] connected\n", .chatterino), ("[8:00:01 PM] bo: hi\n", .chatterino),
      ("[2026-11-23 20:00:01 UTC] bo: hi\n", .chatterino), ("#ada [20:00] bo: hi\n", .chatterino),
      (#"{"addChatItemAction":{"item":{}}}"#, .youtube),
      (#"[{"action_type": "add_chat_item", "author": {"#, .chatDownloader),
      (#"{"author":{"name":"Bo"},"message":"hi"}"#, .chatDownloader),
      (#"[{"author":{"name":"Bo"},"message":"hi","datetime":"2026-11-23 20:00:00"}]"#, .pytchat),
      (#"{"type":"chat.message","user":{"id":"1"},"text":"\"author\":\"message\":"}"#, nil),
      ("[20.00] bo: hi", nil), ("#ada hi", nil),
      (#"{"type":"chat.message","text":"\"replayChatItemAction\""}"#, nil),
      ("@id=1 :bo!bo@bo PRIVMSG #ada :hi", nil), ("[1,2]", nil), ("[a:b:c]", nil), ("", nil),
      (#"{"type":"viewers","count":1}"#, nil),
    ] as [(String, PlatformFormat?)])
  func `a file's format is recognised by its beginning`(text: String, format: PlatformFormat?) {
    #expect(PlatformFormat(head: Array(text.utf8)) == format)
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
      ("2000-03-01T00:00:00.1-01:30", 951_874_200_100), ("2026-13-01T00:00:00Z", nil),
      ("2026-11-23 20:00", nil), ("2026-11-23T20:00:00", nil), ("1969-12-31T23:59:59Z", nil),
      ("2026-11-23T20:00:00+1", nil),
    ] as [(String, Int?)])
  func `valid times in a recorded chat are parsed, and other text is rejected`(
    text: String, milliseconds: Int?
  ) {
    let line =
      #"{"subscription":{"type":"stream.offline","condition":{},"created_at":"\#(text)"},"event":{"broadcaster_user_login":"ada"}}"#
    let translated = Translated(.eventSub, line)
    let time = milliseconds.map { #","ts":\#($0)"# } ?? ""
    #expect(translated.lines == [#"{"type":"stream","room":"ada"\#(time),"state":"ended"}"#])
  }

  /// A damaged file may give fewer lines, but none that the daemon would reject.
  @Test(arguments: PlatformFormat.allCases)
  func `a damaged chat file gives fewer events, but no invalid lines`(format: PlatformFormat) {
    let samples: [PlatformFormat: String] = [
      .youtube:
        #"{"replayChatItemAction":{"actions":[{"addChatItemAction":{"item":{"liveChatPaidMessageRenderer":{"id":"a","timestampUsec":"1795464000123456","authorExternalChannelId":"UC1","authorName":{"simpleText":"Bo"},"message":{"runs":[{"text":"x"}]},"purchaseAmountText":{"simpleText":"$1"}}}}}],"videoOffsetTimeMsec":"1"}}"#,
      .eventSub:
        #"{"payload":{"subscription":{"type":"channel.poll.end"},"event":{"broadcaster_user_login":"ada","id":"p","title":"t","choices":[{"title":"a","votes":1},{"title":"b","votes":2}]}}}"#,
      .chatterino:
        "# Start logging at 2026-11-23 20:00:00 CET\n[20:00:01] bo: hi\n[20:00:02] x has been timed out for 1m.",
      .twitchDownloader:
        #"{"streamer":{"name":"a"},"comments":[{"_id":"a","created_at":"2026-11-23T20:00:00Z","commenter":{"_id":"1","display_name":"Bo"},"message":{"body":"hi"}}]}"#,
      .chatDownloader:
        #"[{"author":{"id":"UC1","name":"Bo"},"message":"hi","message_id":"a","timestamp":1795464000000000,"emotes":[{"locations":"0-1"}]}]"#,
      .pytchat:
        #"[{"author":{"channelId":"UC1","name":"Bo"},"message":"hi","id":"a","timestamp":1795464000000,"amountString":"$1"}]"#,
    ]
    let sample = Array((samples[format] ?? "").utf8)
    var generator = SplitMix64(seed: 34)
    for _ in 0..<2_000 {
      var bytes = sample
      for _ in 0..<generator.pick(1..<6) {
        let index = generator.pick(0..<bytes.count)
        switch generator.pick(0..<3) {
        case 0: bytes[index] = UInt8(generator.pick(0x20..<0x7F))
        case 1: bytes.remove(at: index)
        default: bytes.insert(contentsOf: bytes[index...].prefix(generator.pick(1..<40)), at: index)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let translated = Translated(format, text, pieces: generator.pick(1..<200))
      #expect(translated.rejected.isEmpty, "\(text)")
    }
  }
}
