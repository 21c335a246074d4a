import LiveEvents
import TestSupport

/// A generator of a large chat: mostly common words, some messages with only emotes, and spam in
/// variations. Every generator returns the same messages.
struct ChatCrowd {
  private static let people = 50_000
  private static let words = 3_000

  private var random = SplitMix64(seed: 1)
  private var number = 0

  /// Returns the next message. There are about 200 messages per second.
  mutating func next() -> LiveEvent {
    number += 1
    // A few viewers write most messages: the smaller of two random numbers is often small.
    let person = min(random.pick(0..<Self.people), random.pick(0..<Self.people))
    return LiveEvent(
      timestamp: 1_700_000_000_000 + Timestamp(number * 5),
      payload: .chat(
        .message(
          ChatMessage(
            id: "m\(number)", userID: "u\(person)", userName: "viewer \(person)", text: text()))))
  }

  private mutating func text() -> String {
    switch random.pick(0..<20) {
    case 0: "Buy cheap followers now at example dot com, code \(random.pick(0..<100_000))"
    case 1...3: String(repeating: "Pog", count: random.pick(1..<6))
    default: sentence()
    }
  }

  private mutating func sentence() -> String {
    var text = ""
    for index in 0..<random.pick(2..<14) {
      let word = min(random.pick(0..<Self.words), random.pick(0..<Self.words))
      text += index == 0 ? "w\(word)" : " w\(word)"
    }
    return text
  }
}
