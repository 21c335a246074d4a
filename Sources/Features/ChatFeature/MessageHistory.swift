package import LiveEvents

/// The newest messages that may be shown, oldest first; never more than ``limit``.
///
/// A ring buffer: adding a message to a full history is O(1).
package struct MessageHistory: Sendable {
  package let limit: Int
  private var slots: [DisplayedMessage] = []
  /// The index of the oldest message in `slots`; zero until the ring is full.
  private var oldest = 0

  /// - Parameter limit: how many messages are kept; above zero.
  package init(limit: Int) {
    precondition(limit > 0, "a history needs capacity for one message")
    self.limit = limit
  }

  /// Adds the messages of `batch` that will still be in the history after all of it is added, and
  /// copies only these.
  ///
  /// - Parameters:
  ///   - first: the number of the first message of the batch.
  ///   - hidden: indices of messages that must not be shown, in ascending order.
  ///   - mentions: the names whose mentions are marked.
  mutating func append(
    _ batch: [TimedMessage], numberedFrom first: Int, without hidden: [Int],
    mentions: MentionedNames = MentionedNames()
  ) {
    var start = batch.count
    var free = limit
    var hiddenLeft = hidden.count
    while start > 0, free > 0 {
      start -= 1
      if hiddenLeft > 0, hidden[hiddenLeft - 1] == start { hiddenLeft -= 1 } else { free -= 1 }
    }
    for index in start..<batch.count {
      if hiddenLeft < hidden.count, hidden[hiddenLeft] == index {
        hiddenLeft += 1
      } else {
        var message = DisplayedMessage(batch[index], number: first + index)
        if !message.message.replyTo.isEmpty { message.thread = thread(of: message) }
        if !mentions.isEmpty { message.isMention = mentions.occur(in: message.message.text) }
        append(message)
      }
    }
  }

  /// The number of the message that began the thread of `reply`; `nil` if the message it answers
  /// has left the history.
  ///
  /// - Complexity: O(history); called for replies only.
  private func thread(of reply: DisplayedMessage) -> Int? {
    let answered = reply.message.replyTo
    let hash = answered.hashValue
    let slot = slots.indices.first { slots[$0].idHash == hash && slots[$0].message.id == answered }
    return slot.map { slots[$0].thread ?? slots[$0].number }
  }

  /// The newest message with an identifier, if it is in the history.
  ///
  /// - Complexity: O(history).
  package func newest(withID id: Text) -> DisplayedMessage? {
    let hash = id.hashValue
    return last { $0.idHash == hash && $0.message.id == id }
  }

  /// Those of the newest `limit` messages that satisfy `isIncluded`.
  func filter(limit: Int, _ isIncluded: (DisplayedMessage) -> Bool) -> MessageHistory {
    var rest = MessageHistory(limit: limit)
    rest.slots = suffix(limit).filter(isIncluded)
    return rest
  }

  /// Marks the mentions in all messages again, for other names.
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
  func removing(_ target: ModerationTarget) -> MessageHistory? {
    var rest = MessageHistory(limit: limit)
    switch target {
    case .everything:
      return isEmpty ? nil : rest
    case .message(let id):
      let hash = id.hashValue
      // By index: passing a message to a closure would cost more than comparing the numbers.
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

/// What a moderator removes from the screen.
enum ModerationTarget {
  case everything
  case message(Text)
  case author(Text)
}

extension MessageHistory: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { slots.count }

  package subscript(position: Int) -> DisplayedMessage {
    let slot = oldest + position
    return slots[slot < slots.count ? slot : slot - slots.count]
  }
}

extension MessageHistory: Equatable {
  package static func == (left: MessageHistory, right: MessageHistory) -> Bool {
    left.limit == right.limit && left.elementsEqual(right)
  }
}

/// Encoded oldest first, wherever the ring begins.
extension MessageHistory: Codable {
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
