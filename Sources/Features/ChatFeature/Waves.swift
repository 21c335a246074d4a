import Analysis
package import LiveEvents

/// A burst of duplicates: nearly identical messages of the running chat, such as spam.
package struct Wave: Equatable, Sendable, Codable {
  /// A number that is unique during the analysis. Later bursts have greater numbers.
  package let number: Int
  /// One of the burst's texts.
  package let sample: String
  /// The number of messages, excluding deleted ones.
  package internal(set) var messages = 0
  /// The number of authors.
  package internal(set) var people = 0
  /// `true` once there were more people than can be counted exactly: ``people`` is then a lower
  /// bound.
  package internal(set) var peopleAtLeast: Bool?
  package internal(set) var firstAt = Timestamp.max
  package internal(set) var lastAt = Timestamp.min

  init(number: Int, sample: String) { (self.number, self.sample) = (number, sample) }
}

/// The bursts of an analysed chat.
package struct Waves: Equatable, Sendable, Codable {
  /// The bursts with a message within the last ``BurstFinder/silence``, oldest first.
  package internal(set) var current: [Wave] = []
  /// The number of the newest burst.
  package internal(set) var newest = 0
  /// The number of messages that were not analysed because messages arrived too fast. All counts
  /// are then lower bounds.
  package internal(set) var unanalysed = 0
  /// The ordinal of the last message that was analysed or skipped.
  package internal(set) var through: Int

  init(through: Int) { self.through = through }

  func index(of number: Int) -> Int? { current.firstIndex { $0.number == number } }
}
