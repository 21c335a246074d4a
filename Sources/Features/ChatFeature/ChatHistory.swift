package import LiveEvents

/// The newest messages that may be shown, oldest first; never more than ``limit``.
///
/// A ring: to add a message to a full history is O(1).
package struct ChatHistory: Sendable {
  package let limit: Int
  private var slots: [DisplayedMessage] = []
  /// Position of the oldest message in `slots`; zero until the ring is full.
  private var oldest = 0

  /// - Parameter limit: how many messages are kept; above zero.
  package init(limit: Int) {
    precondition(limit > 0, "a history needs room for one message")
    self.limit = limit
  }

  /// Adds those of `batch` that will still be here after the last of it, and copies only these.
  ///
  /// - Parameters:
  ///   - first: number of the first message of the batch.
  ///   - hidden: positions that are not to be shown, ascending.
  ///   - mentions: names whose mention is marked.
  mutating func append(
    _ batch: [TimedMessage], numberedFrom first: Int, without hidden: [Int],
    mentions: MentionedNames = MentionedNames()
  ) {
    var start = batch.count
    var room = limit
    var hiddenLeft = hidden.count
    while start > 0, room > 0 {
      start -= 1
      if hiddenLeft > 0, hidden[hiddenLeft - 1] == start { hiddenLeft -= 1 } else { room -= 1 }
    }
    for position in start..<batch.count {
      if hiddenLeft < hidden.count, hidden[hiddenLeft] == position {
        hiddenLeft += 1
      } else {
        var message = DisplayedMessage(batch[position], number: first + position)
        if !message.message.replyTo.isEmpty { message.thread = threadAnswered(by: message) }
        if !mentions.isEmpty { message.isMention = mentions.occur(in: message.message.text) }
        append(message)
      }
    }
  }

  /// The number of the message that began the thread in which `reply` answers; `nil` if the message
  /// answered is not here any more. O(history), for replies only.
  private func threadAnswered(by reply: DisplayedMessage) -> Int? {
    let answered = reply.message.replyTo
    let hash = answered.hashValue
    let slot = slots.indices.first { slots[$0].idHash == hash && slots[$0].message.id == answered }
    return slot.map { slots[$0].thread ?? slots[$0].number }
  }

  /// The newest message with an identifier, if it is here. O(history).
  package func newest(withID id: Text) -> DisplayedMessage? {
    let hash = id.hashValue
    return last { $0.idHash == hash && $0.message.id == id }
  }

  /// Those messages that `isKept` accepts.
  func filter(limit: Int, _ isKept: (DisplayedMessage) -> Bool) -> ChatHistory {
    var rest = ChatHistory(limit: limit)
    rest.slots = suffix(limit).filter(isKept)
    return rest
  }

  /// Marks mentions anew.
  mutating func mark(_ mentions: MentionedNames) {
    for slot in slots.indices {
      slots[slot].isMention = mentions.occur(in: slots[slot].message.text)
    }
  }

  mutating func append(_ message: DisplayedMessage) {
    guard slots.count == limit else {
      slots.append(message)
      return
    }
    slots[oldest] = message
    oldest = oldest + 1 == limit ? 0 : oldest + 1
  }

  /// The history without the messages that `target` names; `nil` if there are none.
  func removing(_ target: ModerationTarget) -> ChatHistory? {
    var rest = ChatHistory(limit: limit)
    switch target {
    case .everything:
      return isEmpty ? nil : rest
    case .message(let id):
      let hash = id.hashValue
      // By position: to hand a message to a closure would cost more than to compare the numbers.
      let matches = { (slot: Int) in
        slots[slot].idHash == hash && slots[slot].message.id == id
      }
      guard slots.indices.contains(where: matches) else { return nil }
      rest.slots = filter { $0.message.id != id }
    case .author(let id):
      let hash = id.hashValue
      let matches = { (slot: Int) in
        slots[slot].userHash == hash && slots[slot].message.userID == id
      }
      guard slots.indices.contains(where: matches) else { return nil }
      rest.slots = filter { $0.message.userID != id }
    }
    return rest
  }
}

/// What a moderator takes off the screen.
enum ModerationTarget {
  case everything
  case message(Text)
  case author(Text)
}

extension ChatHistory: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { slots.count }

  package subscript(position: Int) -> DisplayedMessage {
    let slot = oldest + position
    return slots[slot < slots.count ? slot : slot - slots.count]
  }
}

extension ChatHistory: Equatable {
  package static func == (left: ChatHistory, right: ChatHistory) -> Bool {
    left.limit == right.limit && left.elementsEqual(right)
  }
}

/// Oldest first, wherever the ring begins.
extension ChatHistory: Codable {
  private enum CodingKeys: String, CodingKey { case limit, messages }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let limit = try values.decode(Int.self, forKey: .limit)
    let messages = try values.decode([DisplayedMessage].self, forKey: .messages)
    guard limit > 0, messages.count <= limit else {
      throw DecodingError.dataCorruptedError(
        forKey: .limit, in: values,
        debugDescription: "\(messages.count) messages in a history of at most \(limit)")
    }
    self.init(limit: limit)
    slots = messages
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(limit, forKey: .limit)
    try values.encode(Array(self), forKey: .messages)
  }
}
