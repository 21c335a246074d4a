/// The commands of a Twitch IRC connection.
enum IRCCommand {
  case privateMessage, userNotice, clearChat, clearMessage, roomState
  /// A protocol command that carries no information about the stream.
  case protocolOnly

  init?(_ bytes: UnsafePointer<UInt8>, count: Int) {
    switch String(decoding: UnsafeBufferPointer(start: bytes, count: min(count, 16)), as: UTF8.self)
    {
    case "PRIVMSG": self = .privateMessage
    case "USERNOTICE": self = .userNotice
    case "CLEARCHAT": self = .clearChat
    case "CLEARMSG": self = .clearMessage
    case "ROOMSTATE": self = .roomState
    case "PING", "PONG", "JOIN", "PART", "CAP", "NOTICE", "USERSTATE", "GLOBALUSERSTATE",
      "RECONNECT", "HOSTTARGET", "WHISPER", "MODE", "NICK", "PASS", "USER", "QUIT", "ERROR":
      self = .protocolOnly
    default:
      let isNumeric = count == 3 && (0..<3).allSatisfy { bytes[$0] &- UInt8(ascii: "0") <= 9 }
      guard isNumeric else { return nil }
      self = .protocolOnly
    }
  }

  /// Recognises the command of a line without tags and prefix. Ignores numeric replies, because
  /// servers always send them with a prefix.
  init?(verbAt bytes: UnsafePointer<UInt8>, count: Int) {
    guard bytes[0] &- UInt8(ascii: "A") < 26 else { return nil }
    let length = (0..<min(count, 16)).first { bytes[$0] == 0x20 } ?? min(count, 17)
    self.init(bytes, count: length)
  }
}
