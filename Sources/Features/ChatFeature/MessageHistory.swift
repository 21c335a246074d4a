package import LiveEvents

/// The newest messages that may be shown, oldest first; never more than ``limit``, and never more text
/// than ``byteLimit``.
///
/// A ring buffer: adding a message to a full history is O(1) on average.
package struct MessageHistory: Sendable {
  package let limit: Int
  /// The most bytes that the messages may take; the oldest go for a new one.
  package let byteLimit: Int
  /// What the messages take, in bytes.
  package private(set) var bytes = 0
  /// Messages that had to go before their time because texts were long.
  package private(set) var leftOut = 0
  package private(set) var count = 0
  private var slots: [DisplayedMessage?] = []
  /// The index of the oldest message in `slots`.
  private var oldest = 0

  /// - Parameter limit: how many messages are kept; above zero.
  package init(limit: Int) {
    precondition(limit > 0, "a history needs capacity for one message")
    self.limit = limit
    byteLimit = Self.byteLimit(for: limit)
  }

  /// What a history of `limit` messages may take, in bytes. An ordinary message takes some 400, so
  /// that only texts of a kind that no platform lets through exceed it.
  package static func byteLimit(for limit: Int) -> Int {
    Swift.max(1_280 << 10, limit.multipliedReportingOverflow(by: 1 << 10).partialValue)
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
        if !message.message.replyTo.isEmpty,
          let parent = newest(withID: message.message.replyTo)
        {
          message.thread = parent.thread ?? parent.number
          message.answered = String(parent.message.userName)
        }
        if !mentions.isEmpty { message.isMention = mentions.occur(in: message.message.text) }
        append(message)
      }
    }
  }

  /// The newest message with an identifier, if it is in the history.
  ///
  /// - Complexity: O(history).
  package func newest(withID id: Text) -> DisplayedMessage? {
    newestSlot(withID: id).flatMap { slots[$0] }
  }

  private func newestSlot(withID id: Text) -> Int? {
    let hash = id.hashValue
    // By slot: passing a message to a closure would cost more than comparing the numbers.
    var position = count
    while position > 0 {
      position -= 1
      let slot = slot(position)
      if slots[slot]?.idHash == hash, slots[slot]?.message.id == id { return slot }
    }
    return nil
  }

  /// The newest of the messages, in a history with another limit.
  func limited(to limit: Int) -> MessageHistory {
    guard limit != self.limit else { return self }
    var other = MessageHistory(limit: limit)
    other.leftOut = leftOut
    for message in self { other.append(message) }
    return other
  }

  /// Those of the messages that satisfy `isIncluded`.
  func filter(_ isIncluded: (DisplayedMessage) -> Bool) -> MessageHistory {
    var rest = MessageHistory(limit: limit)
    for message in self where isIncluded(message) { rest.append(message) }
    return rest
  }

  /// The position of the first message whose number is at least `number`; the end if there is none.
  ///
  /// - Complexity: O(log history).
  func position(ofNumber number: Int) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        self[middle].number < number ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// Marks the mentions in the message at a position again. Returns the message as it is now.
  mutating func mark(_ position: Int, _ mentions: MentionedNames) -> DisplayedMessage {
    let slot = slot(position)
    let isMention = mentions.occur(in: self[position].message.text)
    slots[slot]?.isMention = isMention
    return self[position]
  }

  /// Takes over the mark of a message of another history, if it is in this one.
  mutating func mark(_ message: DisplayedMessage) {
    let position = position(ofNumber: message.number)
    guard position < count, self[position].number == message.number else { return }
    slots[slot(position)]?.isMention = message.isMention
  }

  /// Adds the messages of another history after `first` and up to `last` that are to be shown.
  mutating func append(
    _ messages: MessageHistory, after first: Int, through last: Int,
    where isShown: (_ number: Int) -> Bool
  ) {
    for message in messages[messages.position(ofNumber: first + 1)...] {
      guard message.number <= last else { return }
      if isShown(message.number) { append(message) }
    }
  }

  mutating func append(_ message: DisplayedMessage) {
    if count == limit { removeOldest() }
    bytes += message.byteCount
    while bytes > byteLimit, count > 0 {
      removeOldest()
      leftOut += 1
    }
    if count == slots.count { grow() }
    slots[slot(count)] = message
    count += 1
  }

  private mutating func removeOldest() {
    bytes -= slots[oldest]?.byteCount ?? 0
    slots[oldest] = nil
    oldest = oldest + 1 == slots.count ? 0 : oldest + 1
    count -= 1
  }

  private mutating func grow() {
    let size = Swift.min(limit, Swift.max(16, slots.count * 2))
    var larger: [DisplayedMessage?] = []
    larger.reserveCapacity(size)
    larger += slots[oldest...]
    larger += slots[..<oldest]
    larger += repeatElement(nil, count: size - larger.count)
    slots = larger
    oldest = 0
  }

  private func slot(_ position: Int) -> Int {
    let slot = oldest + position
    return slot < slots.count ? slot : slot - slots.count
  }

  /// The history without the messages that `target` names; `nil` if there are none.
  func removing(_ target: ModerationTarget) -> MessageHistory? {
    let isTarget: (Int) -> Bool
    switch target {
    case .everything: isTarget = { _ in true }
    case .message(let id):
      let hash = id.hashValue
      isTarget = { slots[$0]?.idHash == hash && slots[$0]?.message.id == id }
    case .author(let id):
      let hash = id.hashValue
      isTarget = { slots[$0]?.userHash == hash && slots[$0]?.message.userID == id }
    case .ordinals(let numbers):
      isTarget = { slots[$0].map { numbers.contains($0.number) } ?? false }
    }
    guard indices.contains(where: { isTarget(slot($0)) }) else { return nil }
    var rest = MessageHistory(limit: limit)
    rest.leftOut = leftOut
    for position in indices {
      let slot = slot(position)
      if let message = slots[slot], !isTarget(slot) { rest.append(message) }
    }
    return rest
  }
}

/// What a moderator removes from the screen, or a wave.
enum ModerationTarget {
  case everything
  case message(Text)
  case author(Text)
  /// Messages by their numbers in the room.
  case ordinals(Set<Int>)
}

extension MessageHistory: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(position: Int) -> DisplayedMessage {
    guard let message = slots[slot(position)] else {
      preconditionFailure("a position in the history has a message")
    }
    return message
  }
}

extension MessageHistory: Equatable {
  package static func == (left: MessageHistory, right: MessageHistory) -> Bool {
    left.limit == right.limit && left.leftOut == right.leftOut && left.elementsEqual(right)
  }
}

/// Encoded oldest first, wherever the ring begins.
extension MessageHistory: Codable {
  private enum CodingKeys: String, CodingKey { case limit, messages, leftOut }

  /// A history with more text than ``byteLimit`` is from a version that had no such limit; its oldest
  /// messages are left out.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let limit = try values.decode(Int.self, forKey: .limit)
    var messages = try values.nestedUnkeyedContainer(forKey: .messages)
    guard limit > 0, messages.count ?? 0 <= limit else {
      throw DecodingError.dataCorruptedError(
        forKey: .limit, in: values,
        debugDescription: "\(messages.count ?? 0) messages in a history of at most \(limit)")
    }
    self.init(limit: limit)
    leftOut = try values.decodeIfPresent(Int.self, forKey: .leftOut) ?? 0
    while !messages.isAtEnd { append(try messages.decode(DisplayedMessage.self)) }
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(limit, forKey: .limit)
    try values.encode(Array(self), forKey: .messages)
    if leftOut > 0 { try values.encode(leftOut, forKey: .leftOut) }
  }
}
