package import LiveEvents

/// A message and the time at which it was written.
package struct WrittenMessage: Sendable {
  package var timestamp: Timestamp
  package var message: ChatMessage

  package init(timestamp: Timestamp, message: ChatMessage) {
    self.timestamp = timestamp
    self.message = message
  }
}

/// The source of messages for an analysis.
package protocol MessageSource {
  /// Appends the next messages, at most a few hundred. Returns `false` at the end.
  mutating func read(into messages: inout [WrittenMessage]) throws -> Bool

  /// How much of `total` was read so far.
  var done: Int { get }
  var total: Int { get }
}

/// Messages in memory.
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
}
