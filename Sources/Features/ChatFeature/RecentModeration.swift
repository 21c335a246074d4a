package import LiveEvents

/// What moderators did recently, so that messages that arrive late are not shown after all.
///
/// A message is hidden if it is older than a clear or a time-out of its author, but by at most
/// ``reach``. A message that is older still is not a straggler: it comes from another recording, or
/// the time stamp of the moderation is wrong, and neither may silence a room for ever. A message
/// whose identifier was deleted is hidden whatever its time stamp, unless it is newer by more than
/// ``reach``.
///
/// At least the last ``capacity`` people and identifiers are remembered, and at most twice as many.
package struct RecentModeration: Equatable, Sendable, Codable {
  /// How late a message may be, in milliseconds.
  package static let reach: Timestamp = 60_000
  package static let capacity = 512

  private var clearedAt: Timestamp?
  private var timeouts = RecentKeys<Text, Timestamp>(capacity: capacity)
  /// The newest clear or time-out: a message after it needs no look-up.
  private var newest: Timestamp = .min
  private var deletions = RecentKeys<Text, Timestamp>(capacity: capacity)
  private var newestDeletion: Timestamp = .min

  package init() {}

  package mutating func noteClear(at time: Timestamp) {
    clearedAt = Self.later(time, clearedAt)
    newest = max(newest, time)
  }

  package mutating func noteTimeout(of userID: Text, at time: Timestamp) {
    timeouts.set(Self.later(time, timeouts[userID]), for: userID.owned())
    newest = max(newest, time)
  }

  package mutating func noteDeletion(of messageID: Text, at time: Timestamp) {
    deletions.set(time, for: messageID.owned())
    newestDeletion = max(newestDeletion, time)
  }

  /// Whether a message with this time stamp needs a closer look. Most do not.
  func concerns(_ time: Timestamp) -> Bool {
    time < newest || (!deletions.isEmpty && !Self.isBeyondReach(time, of: newestDeletion))
  }

  /// Whether a message that arrives now must not be shown. O(1).
  package func hides(_ message: ChatMessage, at time: Timestamp) -> Bool {
    guard concerns(time) else { return false }
    if let clearedAt, Self.precedes(time, clearedAt) { return true }
    if time < newest, let timeout = timeouts[message.userID], Self.precedes(time, timeout) {
      return true
    }
    guard !deletions.isEmpty, let deletion = deletions[message.id] else { return false }
    return !Self.isBeyondReach(time, of: deletion)
  }

  /// Whether `time` is so much newer than `moderation` that the two must be unrelated.
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

  /// The later of two moderations; the new one if the clock was obviously set back between them.
  private static func later(_ time: Timestamp, _ known: Timestamp?) -> Timestamp {
    guard let known, precedes(time, known) else { return time }
    return known
  }
}

/// Values for the keys set most recently, in two generations: when the young one is full, it
/// replaces the old one.
struct RecentKeys<
  Key: Hashable & Sendable & Codable, Value: Equatable & Sendable & Codable
>: Equatable, Sendable, Codable {
  let capacity: Int
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]

  init(capacity: Int) { self.capacity = capacity }

  private enum CodingKeys: String, CodingKey { case capacity, young, old }

  /// Refuses a capacity that nothing here has, and more than fits, which somebody else has written.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    capacity = try values.decode(Int.self, forKey: .capacity)
    young = try values.decode([Key: Value].self, forKey: .young)
    old = try values.decode([Key: Value].self, forKey: .old)
    let largest = max(RecentModeration.capacity, NoticeBoard.groupMemory)
    guard (1...largest).contains(capacity), max(young.count, old.count) <= capacity else {
      throw DecodingError.dataCorruptedError(
        forKey: .capacity, in: values, debugDescription: "there is no such capacity")
    }
  }

  var isEmpty: Bool { young.isEmpty && old.isEmpty }

  subscript(key: Key) -> Value? {
    // Looking up a key hashes it even if the dictionary is empty.
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
