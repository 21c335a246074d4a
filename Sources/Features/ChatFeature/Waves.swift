import Analysis
package import LiveEvents

/// Messages of the running chat that are nearly identical, such as spam.
package struct Wave: Equatable, Sendable, Codable {
  /// Unique while the chat is being analysed; later waves have greater ones.
  package let number: Int
  /// One of its texts.
  package let sample: String
  /// Its messages that were not deleted.
  package internal(set) var messages = 0
  /// The people who wrote them.
  package internal(set) var people = 0
  /// `true` once there were more people than can be told apart: ``people`` is a lower bound then.
  package internal(set) var peopleAtLeast: Bool?
  package internal(set) var firstAt = Timestamp.max
  package internal(set) var lastAt = Timestamp.min

  init(number: Int, sample: String) { (self.number, self.sample) = (number, sample) }
}

/// The waves of a chat that is analysed.
package struct Waves: Equatable, Sendable, Codable {
  /// Those with a message in the last ``WaveFinder/silence``, the oldest first.
  package internal(set) var current: [Wave] = []
  /// The number of the newest one.
  package internal(set) var newest = 0
  /// Messages that were not looked at, because others came too fast: all counts are lower bounds then.
  package internal(set) var unanalysed = 0
  /// The ordinal of the last message that was looked at, or will not be.
  package internal(set) var through: Int

  init(through: Int) { self.through = through }

  func index(of number: Int) -> Int? { current.firstIndex { $0.number == number } }
}
