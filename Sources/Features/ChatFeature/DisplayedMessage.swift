package import LiveEvents

/// A message with its timestamp, on the way from the throttle to the reducer.
package struct TimedMessage: Equatable, Sendable {
  package var timestamp: Timestamp
  package var message: ChatMessage
  package var origin: Origin

  package init(timestamp: Timestamp, message: ChatMessage, origin: Origin = .none) {
    self.timestamp = timestamp
    self.message = message
    self.origin = origin
  }
}

/// A displayed message, which owns its text.
package struct DisplayedMessage: Equatable, Sendable, Identifiable {
  /// The number of the message in the room, starting at 1. Unlike the identifier from the source,
  /// it is guaranteed to be unique.
  package let number: Int
  package let timestamp: Timestamp
  package let message: ChatMessage
  package let origin: Origin
  /// The number of the message that started the thread. `nil` if this message is not a reply, or if
  /// the answered message had already left the history.
  package internal(set) var thread: Int?
  /// The author of the answered message, if that message was still in the history.
  package internal(set) var answered: String?
  /// Whether the message contains one of the highlighted names.
  package internal(set) var isMention = false
  /// Hashes of the message's and the author's identifiers, so that moderation finds its targets
  /// without comparing all identifiers.
  let idHash: Int
  let userHash: Int

  package var id: Int { number }

  /// Returns whether both messages look the same. Compares the storage of texts instead of their
  /// content, except for ``answered``, so equal messages may count as different.
  func isIdentical(to other: DisplayedMessage) -> Bool {
    number == other.number && timestamp == other.timestamp && origin == other.origin
      && thread == other.thread && answered == other.answered && isMention == other.isMention
      && message.isIdentical(to: other.message)
  }

  /// The memory of the message in bytes: its texts, the overhead of the block that stores the
  /// texts, and the message's place in a history.
  var byteCount: Int { message.byteCount + (answered?.utf8.count ?? 0) + Self.overhead }
  private static let overhead = MemoryLayout<Self?>.stride + ByteSlab.padding + 64

  init(_ received: TimedMessage, number: Int) {
    self.init(
      number: number, timestamp: received.timestamp, message: received.message.owned(),
      origin: received.origin)
  }

  /// - Parameter message: A message that owns its text.
  private init(number: Int, timestamp: Timestamp, message: ChatMessage, origin: Origin) {
    self.number = number
    self.timestamp = timestamp
    self.message = message
    self.origin = origin
    idHash = message.id.hashValue
    userHash = message.userID.hashValue
  }
}

/// Encoded without the hashes, which differ between processes.
extension DisplayedMessage: Codable {
  private enum CodingKeys: String, CodingKey {
    case number, timestamp, message, origin, thread, answered, isMention
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      number: try values.decode(Int.self, forKey: .number),
      timestamp: try values.decode(Timestamp.self, forKey: .timestamp),
      message: try values.decode(ChatMessage.self, forKey: .message),
      origin: try values.decodeIfPresent(Origin.self, forKey: .origin) ?? .none)
    thread = try values.decodeIfPresent(Int.self, forKey: .thread)
    answered = try values.decodeIfPresent(String.self, forKey: .answered)
    isMention = try values.decodeIfPresent(Bool.self, forKey: .isMention) ?? false
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(number, forKey: .number)
    try values.encode(timestamp, forKey: .timestamp)
    try values.encode(message, forKey: .message)
    if origin != .none { try values.encode(origin, forKey: .origin) }
    try values.encodeIfPresent(thread, forKey: .thread)
    try values.encodeIfPresent(answered, forKey: .answered)
    if isMention { try values.encode(isMention, forKey: .isMention) }
  }
}

extension DisplayedMessage: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, thread, in: "number")
    try require(times: timestamp, in: "timestamp")
    try require(names: answered, in: "answered")
    try check(message, "message")
  }
}
