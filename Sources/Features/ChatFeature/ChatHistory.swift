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
  mutating func append(_ batch: [TimedMessage], numberedFrom first: Int, without hidden: [Int]) {
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
        append(DisplayedMessage(batch[position], number: first + position))
      }
    }
  }

  private mutating func append(_ message: DisplayedMessage) {
    guard slots.count == limit else {
      slots.append(message)
      return
    }
    slots[oldest] = message
    oldest = oldest + 1 == limit ? 0 : oldest + 1
  }

  /// The history without the messages that match; `nil` if none does.
  func removing(where matches: (DisplayedMessage) -> Bool) -> ChatHistory? {
    guard contains(where: matches) else { return nil }
    var rest = ChatHistory(limit: limit)
    rest.slots = filter { !matches($0) }
    return rest
  }
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
