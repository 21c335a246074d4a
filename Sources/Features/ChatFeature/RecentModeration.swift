package import LiveEvents

/// What moderators did lately, so that messages that come late are not shown after all.
///
/// A message is hidden if its identifier was deleted, or if it is older than a clear or than a
/// time-out of its author, by at most ``reach``: what is older still is no straggler but another
/// recording, or the moderation's time stamp is wrong, and neither may silence a room for ever.
/// Of people and identifiers the last ``capacity`` at least are remembered, and at most twice as
/// many.
package struct RecentModeration: Equatable, Sendable {
  /// How late a message may be, in milliseconds.
  package static let reach: Timestamp = 60_000
  package static let capacity = 512

  private var clearedAt: Timestamp?
  private var timeouts = RecentKeys<Text, Timestamp>(capacity: capacity)
  /// The newest of `timeouts`: a message after it needs no look-up.
  private var newestTimeout: Timestamp = .min
  private var deletions = RecentKeys<Text, Bool>(capacity: capacity)

  package init() {}

  package mutating func noteClear(at time: Timestamp) {
    clearedAt = Self.later(time, clearedAt)
  }

  package mutating func noteTimeout(of userID: Text, at time: Timestamp) {
    timeouts.set(Self.later(time, timeouts[userID]), for: userID.owned())
    newestTimeout = max(newestTimeout, time)
  }

  package mutating func noteDeletion(of messageID: Text) {
    deletions.set(true, for: messageID.owned())
  }

  /// Whether a message that arrives now must not be shown. O(1); free of look-ups for a message in
  /// order, unless messages were deleted by identifier.
  package func hides(_ message: ChatMessage, at time: Timestamp) -> Bool {
    if let clearedAt, Self.precedes(time, clearedAt) { return true }
    if time < newestTimeout, let timeout = timeouts[message.userID],
      Self.precedes(time, timeout)
    {
      return true
    }
    return !deletions.isEmpty && deletions[message.id] != nil
  }

  private static func precedes(_ time: Timestamp, _ moderation: Timestamp) -> Bool {
    guard time < moderation else { return false }
    let (lateness, overflow) = moderation.subtractingReportingOverflow(time)
    return !overflow && lateness <= reach
  }

  /// The later of two moderations; the new one if the clock was evidently set back between them.
  private static func later(_ time: Timestamp, _ known: Timestamp?) -> Timestamp {
    guard let known, precedes(time, known) else { return time }
    return known
  }
}

/// Values for the keys that were set last, in two generations: when the young one is full it
/// becomes the old one, and the old one is forgotten.
struct RecentKeys<Key: Hashable & Sendable, Value: Equatable & Sendable>: Equatable, Sendable {
  let capacity: Int
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]

  init(capacity: Int) { self.capacity = capacity }

  var isEmpty: Bool { young.isEmpty && old.isEmpty }

  subscript(key: Key) -> Value? { young[key] ?? old[key] }

  mutating func set(_ value: Value, for key: Key) {
    if young.count >= capacity, young[key] == nil {
      old = young
      young = [:]
    }
    young[key] = value
  }
}
