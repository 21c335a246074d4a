import Analysis
package import LiveEvents

/// A burst of duplicates: nearly identical messages of the running chat, such as spam.
package struct Burst: Equatable, Sendable, Codable {
  /// A number that is unique during the analysis, and greater for later bursts of duplicates.
  package let number: Int
  package let sample: String
  /// The number of messages, excluding deleted messages.
  package internal(set) var messages = 0
  package internal(set) var people = 0
  /// `true` after there were more people than can be counted exactly, so that ``people`` is a lower
  /// bound.
  package internal(set) var peopleAtLeast: Bool?
  package internal(set) var firstAt = Timestamp.max
  package internal(set) var lastAt = Timestamp.min

  init(number: Int, sample: String) { (self.number, self.sample) = (number, sample) }
}

/// The bursts of duplicates in an analysed chat.
package struct Bursts: Equatable, Sendable, Codable {
  /// The bursts of duplicates with a message within the last ``BurstFinder/silence``, oldest first.
  package internal(set) var current: [Burst] = []
  /// The number of the newest burst of duplicates.
  package internal(set) var newest = 0
  /// The number of messages that were not analysed because messages arrived too fast. If there are
  /// any, all counts are lower bounds.
  package internal(set) var unanalysed = 0
  /// The ordinal of the last message that was analysed or skipped.
  package internal(set) var through: Int

  init(through: Int) { self.through = through }

  func index(of number: Int) -> Int? { current.firstIndex { $0.number == number } }
}

extension Bursts: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(current, atMost: ChatFindings.burstLimit, "current")
    try require(countable: newest, unanalysed, through, in: "newest")
  }
}

extension Burst: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, messages, people, in: "number")
    // Without messages, a burst has no times.
    try require(times: firstAt == .max ? nil : firstAt, in: "firstAt")
    try require(times: lastAt == .min ? nil : lastAt, in: "lastAt")
    try require(sample.utf8.count <= ChatFindings.sampleLength, "sample")
  }
}
