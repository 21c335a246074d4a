package import LiveEvents

/// The newest messages that may be shown, oldest first, at most ``limit`` messages and at most
/// ``byteLimit`` bytes. A ring buffer: adding a message to a full history is O(1) on average.
package struct MessageHistory: Sendable {
  package let limit: Int
  /// The maximum memory of the messages in bytes. A new message displaces the oldest messages.
  package let byteLimit: Int
  /// The memory of the messages in bytes.
  package private(set) var bytes = 0
  /// The number of messages that were removed early because of long texts.
  package private(set) var leftOut = 0
  package private(set) var count = 0
  private var slots: [DisplayedMessage?] = []
  private var oldest = 0

  /// - Parameter limit: The maximum number of messages, at least 1.
  package init(limit: Int) {
    precondition(limit > 0, "a history needs capacity for one message")
    self.limit = limit
    byteLimit = Self.byteLimit(for: limit)
  }

  /// Returns the maximum memory of a history with `limit` messages, in bytes. An ordinary message
  /// takes about 400 bytes, so only texts longer than any platform allows can exceed the limit.
  package static func byteLimit(for limit: Int) -> Int {
    Swift.max(1_280 << 10, limit.multipliedReportingOverflow(by: 1 << 10).partialValue)
  }

  /// Adds the messages of `batch` that remain in the history after the whole batch is added. Copies
  /// only these messages.
  ///
  /// - Parameters:
  ///   - first: The number of the first message of the batch.
  ///   - hidden: The indices of messages that must not be shown, in ascending order.
  ///   - mentions: The names whose mentions are highlighted.
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

  /// Returns the newest message with an identifier, if it is in the history. Takes O(history).
  package func newest(withID id: Text) -> DisplayedMessage? {
    newestSlot(withID: id).flatMap { slots[$0] }
  }

  private func newestSlot(withID id: Text) -> Int? {
    let hash = id.hashValue
    // Iterates over slots, because passing a message to a closure would cost more than comparing
    // the numbers.
    var position = count
    while position > 0 {
      position -= 1
      let slot = slot(position)
      if slots[slot]?.idHash == hash, slots[slot]?.message.id == id { return slot }
    }
    return nil
  }

  /// Returns a history with the newest messages and another limit.
  func limited(to limit: Int) -> MessageHistory {
    guard limit != self.limit else { return self }
    var other = MessageHistory(limit: limit)
    other.leftOut = leftOut
    for message in self { other.append(message) }
    return other
  }

  /// Returns the messages that satisfy `isIncluded`.
  func filter(_ isIncluded: (DisplayedMessage) -> Bool) -> MessageHistory {
    var rest = MessageHistory(limit: limit)
    for message in self where isIncluded(message) { rest.append(message) }
    return rest
  }

  /// Returns the position of the first message whose number is at least `number`, or the end. Takes
  /// O(log history).
  func position(ofNumber number: Int) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        self[middle].number < number ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// Updates the mention mark of the message at a position. Returns the updated message.
  mutating func mark(_ position: Int, _ mentions: MentionedNames) -> DisplayedMessage {
    let slot = slot(position)
    let isMention = mentions.occur(in: self[position].message.text)
    slots[slot]?.isMention = isMention
    return self[position]
  }

  /// Copies the mention mark of another history's message, if this history contains the message.
  mutating func mark(_ message: DisplayedMessage) {
    let position = position(ofNumber: message.number)
    guard position < count, self[position].number == message.number else { return }
    slots[slot(position)]?.isMention = message.isMention
  }

  /// Adds the messages of another history that are numbered after `first` and up to `last`, and for
  /// which `isShown` returns true.
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

  /// Returns the history without the messages of `target`, or `nil` if it contains none of them.
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

/// The messages that a moderator removes from the screen, or that join a burst of duplicates.
enum ModerationTarget {
  case everything
  case message(Text)
  case author(Text)
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

/// Encodes the messages oldest first, independent of the ring's memory layout.
extension MessageHistory: Codable {
  private enum CodingKeys: String, CodingKey { case limit, messages, leftOut }

  /// Decodes a history. Old versions had no ``byteLimit``, so the oldest messages may be removed.
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

extension MessageHistory: Bounded {
  /// Does not check ``limit``, which bounds the number of messages, because the daemon replaces it
  /// by the configured limit.
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: leftOut, limit, in: "leftOut")
    for message in self { try check(message, "messages") }
  }
}
