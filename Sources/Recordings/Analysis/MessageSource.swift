package import LiveEvents

/// A message with the time at which it was written.
package struct WrittenMessage: Sendable {
  package var timestamp: Timestamp
  package var message: ChatMessage

  package init(timestamp: Timestamp, message: ChatMessage) {
    self.timestamp = timestamp
    self.message = message
  }
}

/// Where an analysis has its messages from. Can be read more than once.
package protocol MessageSource {
  /// Adds some hundred messages at most; `false` at the end.
  mutating func read(into messages: inout [WrittenMessage]) throws -> Bool

  /// Begins again.
  mutating func rewind() throws

  /// How much is read, of `total`.
  var done: Int { get }
  var total: Int { get }
}

/// Messages that are in memory.
package struct MessageList: MessageSource {
  private let messages: [WrittenMessage]
  package private(set) var done = 0

  package init(_ messages: [WrittenMessage]) { self.messages = messages }

  package var total: Int { messages.count }

  package mutating func read(into target: inout [WrittenMessage]) throws -> Bool {
    guard done < messages.count else { return false }
    let end = min(done + 256, messages.count)
    target += messages[done..<end]
    done = end
    return true
  }

  package mutating func rewind() throws { done = 0 }
}
