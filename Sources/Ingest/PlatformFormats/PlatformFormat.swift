import LiveEvents

/// What programs write that record the chats of platforms. Other than the formats of the ingest socket, a line
/// of it may be several events or none, or it has no lines; it is translated into native lines where it is read.
package enum PlatformFormat: String, CaseIterable, Sendable {
  /// A `.live_chat.json` of yt-dlp: the actions of YouTube's chat, one object per line.
  case youtube = "youtube-live-chat"
  /// Notifications of Twitch's EventSub as they were received, one object per line.
  case eventSub = "twitch-eventsub"
  /// A log of Chatterino: text.
  case chatterino
  /// A chat of TwitchDownloader: one JSON document.
  case twitchDownloader = "twitch-downloader"

  /// The platform of the chats.
  var platform: String {
    switch self {
    case .youtube: "youtube"
    case .eventSub, .chatterino, .twitchDownloader: "twitch"
    }
  }

  /// How many bytes of a file are enough to recognise its format.
  package static let headLength = 4096

  /// The format of a file by its first bytes; `nil` for all others, such as native lines.
  package init?(head: some Collection<UInt8>) {
    let text = String(decoding: head.prefix(Self.headLength), as: UTF8.self)
      .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    let line = text.prefix { !$0.isNewline }
    let compact = text.filter { !$0.isWhitespace }
    if compact.hasPrefix("{\"FileInfo\":")
      || (compact.hasPrefix("{\"streamer\":{") && compact.contains("\"comments\":["))
    {
      self = .twitchDownloader
    } else if line.hasPrefix("{") {
      if line.contains("\"replayChatItemAction\"") {
        self = .youtube
      } else if line.contains("\"message_type\"") && line.contains("\"metadata\"")
        || line.contains("\"subscription\"") && line.contains("\"condition\"")
      {
        self = .eventSub
      } else {
        return nil
      }
    } else if line.hasPrefix("# Start logging at ") || ChatterinoLog.isTimed(line) {
      self = .chatterino
    } else {
      return nil
    }
  }
}

/// Translates a file in pieces.
package struct PlatformTranslator: Sendable {
  private enum Reader: Sendable {
    case youtube(LineBuffer)
    case eventSub(LineBuffer)
    case chatterino(LineBuffer, ChatterinoLog)
    case twitchDownloader(TwitchDownloaderLog)
  }

  private var reader: Reader
  /// What was translated, and what was not.
  package private(set) var output: NativeLines

  package init(_ format: PlatformFormat) {
    output = NativeLines(platform: format.platform)
    reader =
      switch format {
      case .youtube: .youtube(LineBuffer())
      case .eventSub: .eventSub(LineBuffer())
      case .chatterino: .chatterino(LineBuffer(), ChatterinoLog())
      case .twitchDownloader: .twitchDownloader(TwitchDownloaderLog())
      }
  }

  /// Translates a piece. O(length), amortised.
  package mutating func translate(_ bytes: UnsafeRawBufferPointer) {
    switch reader {
    case .youtube(var lines):
      lines.receive(bytes) { YouTubeChat.translate($0, into: &output) }
      reader = .youtube(lines)
    case .eventSub(var lines):
      lines.receive(bytes) { EventSubLog.translate($0, into: &output) }
      reader = .eventSub(lines)
    case .chatterino(var lines, var log):
      lines.receive(bytes) { log.translate($0, into: &output) }
      reader = .chatterino(lines, log)
    case .twitchDownloader(var log):
      log.receive(bytes, into: &output)
      reader = .twitchDownloader(log)
    }
  }

  /// Translates a last line that has no end.
  package mutating func finish() {
    [UInt8(0x0A)].withUnsafeBytes { translate($0) }
  }

  /// Hands out the lines that were translated, each with its end.
  package mutating func takeLines() -> [UInt8] {
    defer { output.bytes.removeAll(keepingCapacity: true) }
    return output.bytes
  }
}

/// Puts lines together from pieces; those that are too long are skipped.
struct LineBuffer: Sendable {
  static let longestLine = 1 << 20

  private var rest: [UInt8] = []
  private var isSkipping = false

  mutating func receive(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) {
    var bytes = bytes[...]
    while let end = bytes.firstIndex(of: 0x0A) {
      rest.append(contentsOf: bytes[..<end])
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
