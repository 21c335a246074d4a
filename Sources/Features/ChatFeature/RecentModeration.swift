package import LiveEvents

/// The recent actions of moderators, which also apply to messages that arrive late.
///
/// A message is hidden if it is at most ``reach`` older than a clear or a time-out of its author.
/// An even older message is unrelated: it comes from another recording, or the moderation has a
/// wrong timestamp, which must not silence a room forever. A message with a deleted identifier is
/// hidden regardless of its timestamp, unless it is more than ``reach`` newer than the deletion.
///
/// Remembers at least the last ``capacity`` people and identifiers, and at most twice as many.
package struct RecentModeration: Equatable, Sendable, Codable {
  /// The maximum lateness of a message, in milliseconds.
  package static let reach: Timestamp = 60_000
  package static let capacity = 512

  private var clearedAt: Timestamp?
  private var timeouts = RecentKeys<Text, Timestamp>(capacity: capacity)
  /// The time of the newest clear or time-out. Later messages need no look-up.
  private var newest: Timestamp = .min
  private var deletions = RecentKeys<Text, Timestamp>(capacity: capacity)
  private var newestDeletion: Timestamp = .min

  package init() {}

  package mutating func recordClear(at time: Timestamp) {
    clearedAt = Self.later(time, clearedAt)
    newest = max(newest, time)
  }

  package mutating func recordTimeout(of userID: Text, at time: Timestamp) {
    timeouts.set(Self.later(time, timeouts[userID]), for: userID.owned())
    newest = max(newest, time)
  }

  package mutating func recordDeletion(of messageID: Text, at time: Timestamp) {
    deletions.set(time, for: messageID.owned())
    newestDeletion = max(newestDeletion, time)
  }

  /// Returns whether moderation may hide a message with this timestamp. Most messages are too new.
  func concerns(_ time: Timestamp) -> Bool {
    time < newest || (!deletions.isEmpty && !Self.isBeyondReach(time, of: newestDeletion))
  }

  /// Returns whether a message that arrives now must be hidden. Takes O(1).
  package func hides(_ message: ChatMessage, at time: Timestamp) -> Bool {
    guard concerns(time) else { return false }
    if let clearedAt, Self.precedes(time, clearedAt) { return true }
    if time < newest, let timeout = timeouts[message.userID], Self.precedes(time, timeout) {
      return true
    }
    guard !deletions.isEmpty, let deletion = deletions[message.id] else { return false }
    return !Self.isBeyondReach(time, of: deletion)
  }

  /// Returns whether `time` is so much newer than `moderation` that both must be unrelated.
  private static func isBeyondReach(_ time: Timestamp, of moderation: Timestamp) -> Bool {
    guard time > moderation else { return false }
    let (distance, overflow) = time.subtractingReportingOverflow(moderation)
    return overflow || distance > reach
  }

  private static func precedes(_ time: Timestamp, _ moderation: Timestamp) -> Bool {
    guard time < moderation else { return false }
    let (lateness, overflow) = moderation.subtractingReportingOverflow(time)
    return !overflow && lateness <= reach
  }

  /// Returns the later of two times of moderation, or the new time if the clock was clearly set
  /// back.
  private static func later(_ time: Timestamp, _ known: Timestamp?) -> Timestamp {
    guard let known, precedes(time, known) else { return time }
    return known
  }
}

/// Stores values for the most recently set keys, in two generations. A full young generation
/// replaces the old generation.
struct RecentKeys<
  Key: Hashable & Sendable & Codable, Value: Equatable & Sendable & Codable
>: Equatable, Sendable, Codable {
  let capacity: Int
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]

  init(capacity: Int) { self.capacity = capacity }

  private enum CodingKeys: String, CodingKey { case capacity, young, old }

  /// Decodes values that may come from a manipulated file: rejects a capacity that this program
  /// never writes, and more keys than the capacity permits.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    capacity = try values.decode(Int.self, forKey: .capacity)
    young = try values.decode([Key: Value].self, forKey: .young)
    old = try values.decode([Key: Value].self, forKey: .old)
    let largest = max(RecentModeration.capacity, NoticeBoard.groupMemory)
    guard (1...largest).contains(capacity), max(young.count, old.count) <= capacity else {
      throw DecodingError.dataCorruptedError(
        forKey: .capacity, in: values, debugDescription: "the capacity is out of range")
    }
  }

  var isEmpty: Bool { young.isEmpty && old.isEmpty }

  subscript(key: Key) -> Value? {
    // Checking for emptiness first avoids hashing the key, which a look-up does even in an empty
    // dictionary.
    if !young.isEmpty, let value = young[key] { return value }
    return old.isEmpty ? nil : old[key]
  }

  mutating func set(_ value: Value, for key: Key) {
    if young.count >= capacity, young[key] == nil {
      old = young
      young = [:]
    }
    young[key] = value
  }
}

extension RecentModeration: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(times: clearedAt, in: "clearedAt")
    try timeouts.checkBounds("timeouts", \.isCountable)
    try deletions.checkBounds("deletions", \.isCountable)
    for time in [newest, newestDeletion] where time != .min {
      try require(times: time, in: "newest")
    }
  }
}

extension RecentKeys where Key == Text {
  /// Checks the keys and the values; their number is checked when they are decoded.
  func checkBounds(_ name: String, _ isPossible: (Value) -> Bool) throws(OutOfBounds) {
    for generation in [young, old] {
      let isWithin = generation.allSatisfy { key, value in
        key.fits(EventLimits.nameLength) && isPossible(value)
      }
      guard isWithin else { throw OutOfBounds(name) }
    }
  }
}
