package import ControlInterface

/// The messages of a chat that were seen here, more of them than the daemon reports at once.
package struct ChatHistory: Sendable {
  /// How many are kept.
  package static let capacity = 2_000

  package private(set) var messages: [ChatMessageReport] = []
  /// The number of the first message kept; numbers grow with each message and never change.
  package private(set) var first = 0
  /// The number behind the newest message.
  package var end: Int { first + messages.count }

  package init() {}

  /// Takes the newest messages: those that are new come in at the end, the others may have been taken
  /// down since.
  /// - Complexity: O(*n*) in the messages reported and those kept.
  package mutating func merge(_ reported: [ChatMessageReport]) {
    let shared = overlap(reported)
    let start = messages.count - shared
    for (index, message) in reported.prefix(shared).enumerated() {
      messages[start + index] = message
    }
    messages += reported.dropFirst(shared)
    let surplus = messages.count - Self.capacity
    if surplus > 0 {
      messages.removeFirst(surplus)
      first += surplus
    }
  }

  /// How many of the reported messages are the last ones kept.
  private func overlap(_ reported: [ChatMessageReport]) -> Int {
    guard let oldest = reported.first else { return 0 }
    // The newest place where they could begin; what follows must be the same messages.
    for start in messages.indices.suffix(reported.count) where messages[start].id == oldest.id {
      let kept = messages[start...]
      if zip(kept, reported).allSatisfy({ $0.id == $1.id }) { return kept.count }
    }
    return 0
  }
}
