import LiveEvents

/// The file formats in which other programs record chats. The reader of a file translates the whole
/// file into native lines. Translating line by line is impossible, because a line may contain
/// several events or none, and JSON documents have no lines.
package enum PlatformFormat: String, CaseIterable, Sendable {
  /// A `.live_chat.json` file of yt-dlp: the actions of YouTube's chat, one object per line.
  case youtube = "youtube-live-chat"
  /// Notifications of Twitch's EventSub as received, one object per line.
  case eventSub = "twitch-eventsub"
  /// A text log of Chatterino.
  case chatterino
  /// A chat saved by TwitchDownloader as one JSON document.
  case twitchDownloader = "twitch-downloader"
  /// A chat saved by chat-downloader as JSON, in one array or one object per line.
  case chatDownloader = "chat-downloader"
  /// A chat saved by pytchat as JSON, in one array or one object per line.
  case pytchat

  /// The platform of the chats, or `nil` if each message determines its platform.
  var platform: String? {
    switch self {
    case .youtube, .pytchat: "youtube"
    case .eventSub, .chatterino, .twitchDownloader: "twitch"
    case .chatDownloader: nil
    }
  }

  /// A description of a file in this format, for messages.
  package var description: String {
    switch self {
    case .youtube: "a YouTube chat of yt-dlp"
    case .eventSub: "a log of Twitch's EventSub"
    case .chatterino: "a chat log such as Chatterino's"
    case .twitchDownloader: "a chat of TwitchDownloader"
    case .chatDownloader: "a chat of chat-downloader"
    case .pytchat: "a chat of pytchat"
    }
  }

  /// The number of leading bytes that suffice to recognise a file's format.
  package static let headLength = 16_384

  /// Recognises a file's format by its first bytes, after a byte order mark. Returns `nil` for
  /// other formats, such as native lines.
  package init?(head: some Collection<UInt8>) {
    let text = String(decoding: head.prefix(Self.headLength), as: UTF8.self)
      .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    let line = text.prefix { !$0.isNewline }
    if line.hasPrefix("{") || line.hasPrefix("[") {
      guard let format = Self(json: text.filter { !$0.isWhitespace }) ?? Self(timed: line) else {
        return nil
      }
      self = format
    } else if line.hasPrefix("# Start logging at ") || ChatterinoLog.isTimed(line) {
      self = .chatterino
    } else {
      return nil
    }
  }

  private init?(timed line: Substring) {
    guard ChatterinoLog.isTimed(line) else { return nil }
    self = .chatterino
  }

  /// Recognises the format of JSON by the beginning of its text, given without white space.
  private init?(json text: String) {
    // Quotation marks within native values are escaped, so a match is always a member.
    func has(_ members: String...) -> Bool { members.contains { text.contains("\"\($0)\":") } }
    let document = ["FileInfo", "streamer", "video", "comments", "embeddedData"]
    let isDocument = document.contains {
      text.hasPrefix("{\"\($0)\":{") || text.hasPrefix("{\"\($0)\":[")
    }
    if isDocument {
      self = .twitchDownloader
    } else if text.contains("ChatItemAction\":{") || text.contains("ToLiveChatCommand\":{") {
      self = .youtube
    } else if has("message_type") && has("metadata") || has("subscription") && has("condition") {
      self = .eventSub
    } else if has("messageEx", "elapsedTime", "amountString", "datetime"), has("author") {
      self = .pytchat
    } else if text.hasPrefix("{\"action_type\":") || text.hasPrefix("[{\"action_type\":")
      || has("author", "author_id")
        && has("message", "message_id", "message_type", "time_in_seconds", "action_type")
    {
      self = .chatDownloader
    } else {
      return nil
    }
  }
}

/// Translates a file piece by piece.
package struct PlatformTranslator: Sendable {
  private enum Reader: Sendable {
    case youtube(JSONArrayReader, YouTubeChat)
    case eventSub(JSONArrayReader)
    case chatterino(LineBuffer, ChatterinoLog)
    case twitchDownloader(TwitchDownloaderLog)
    case items(ChatItemLog)
  }

  private var reader: Reader
  /// The translated lines and the counts of untranslated kinds.
  package private(set) var output: NativeLines
  /// The reason why the rest of the file cannot be read, if it cannot.
  package private(set) var failure: String?

  /// - Parameter zone: The time zone of logs that name no zone.
  package init(_ format: PlatformFormat, zone: LogZone = .utc) {
    output = NativeLines(platform: format.platform)
    reader =
      switch format {
      case .youtube: .youtube(JSONArrayReader(), YouTubeChat())
      case .eventSub: .eventSub(JSONArrayReader())
      case .chatterino: .chatterino(LineBuffer(), ChatterinoLog(zone: zone))
      case .twitchDownloader: .twitchDownloader(TwitchDownloaderLog())
      case .chatDownloader, .pytchat: .items(ChatItemLog())
      }
  }

  /// Translates a piece. Takes O(length), amortised.
  package mutating func translate(_ bytes: UnsafeRawBufferPointer) {
    switch reader {
    case .youtube(var elements, var chat):
      reader = .items(ChatItemLog())
      elements.receive(bytes, into: &output) { chat.translate($0, into: &$1) }
      reader = .youtube(elements, chat)
    case .eventSub(var elements):
      reader = .items(ChatItemLog())
      elements.receive(bytes, into: &output) { EventSubLog.translate($0, into: &$1) }
      reader = .eventSub(elements)
    case .chatterino(var lines, var log):
      lines.receive(bytes) { log.translate($0, into: &output) }
      failure = log.failure
      reader = .chatterino(lines, log)
    case .twitchDownloader(var log):
      reader = .items(ChatItemLog())
      log.receive(bytes, into: &output)
      reader = .twitchDownloader(log)
    case .items(var log):
      reader = .eventSub(JSONArrayReader())
      log.receive(bytes, into: &output)
      reader = .items(log)
    }
  }

  /// Translates the remaining input: an unterminated last line, or comments that precede the
  /// channel's name.
  package mutating func finish() {
    [UInt8(0x0A)].withUnsafeBytes { translate($0) }
    if case .twitchDownloader(var log) = reader {
      log.finish(into: &output)
      reader = .twitchDownloader(log)
    }
  }

  /// Removes and returns the translated lines with their line endings.
  package mutating func removeLines() -> [UInt8] {
    defer { output.bytes.removeAll(keepingCapacity: true) }
    return output.bytes
  }
}

/// Assembles lines from pieces. Skips lines longer than ``longestLine`` bytes.
struct LineBuffer: Sendable {
  static let longestLine = 1 << 20

  private var rest: [UInt8] = []
  private var isSkipping = false

  mutating func receive(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) {
    var bytes = bytes[...]
    while let end = bytes.firstIndex(of: 0x0A) {
      rest.append(contentsOf: bytes[..<end])
      // Concatenated files have a byte order mark at the start of each file.
      if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest.removeFirst(3) }
      if !isSkipping, rest.count <= Self.longestLine { body(rest) }
      isSkipping = false
      rest.removeAll(keepingCapacity: true)
      bytes = bytes[(end + 1)...]
    }
    if isSkipping { return }
    rest.append(contentsOf: bytes)
    if rest.count > Self.longestLine {
      isSkipping = true
      rest = []
    }
  }
}
