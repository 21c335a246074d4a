package import LiveEvents

/// The card of a person: what the chat knows about one author, for the host and the moderators.
///
/// A card contains copies, so it keeps messages that newer messages displace from the chat's
/// history. Moderated messages are also removed from the card. A closed card costs nothing.
package struct PersonCard: Equatable, Sendable, Codable {
  /// The maximum number of messages on a card.
  package static let messageLimit = 5
  /// The maximum number of moderations on a card.
  package static let moderationLimit = 16
  /// The maximum memory of a card's messages and moderations, in bytes.
  package static var byteLimit: Int {
    messageLimit * (EventLimits.textLength + 4 * EventLimits.nameLength)
      + moderationLimit * PersonModeration.byteLimit
  }

  /// The person. The platform is `nil` if it is unknown.
  package let person: PersonReference
  package internal(set) var name: String
  /// The badges of the person's newest stored message, separated by commas.
  package internal(set) var badges: Text = ""
  /// The number of messages from the person, including deleted ones. People of several platforms
  /// with the same identifier count as one person, as in ``ChatFeature/State/chatters``.
  package internal(set) var messages: Int
  /// `true` if the person was not counted because too many people wrote, so that ``messages`` is a
  /// lower bound.
  package internal(set) var messagesAtLeast: Bool?
  /// The time of the oldest stored message from the person.
  package internal(set) var firstAt: Timestamp?
  /// `true` if older messages from the person were not stored, so that ``firstAt`` is an upper
  /// bound.
  package internal(set) var firstAtMost: Bool?
  /// The newest stored messages from the person, oldest first.
  package internal(set) var newest: [DisplayedMessage]
  /// What moderators did to the person, oldest first.
  package internal(set) var moderations: [PersonModeration]
  /// The host's note, if there is one.
  package internal(set) var note: String?
}

/// A deletion, time-out, or ban, or the end of one.
package struct PersonModeration: Equatable, Sendable, Codable {
  /// `delete`, `timeOut`, `ban`, or `unban`.
  package let kind: ActKind
  package let person: Person
  /// The identifier of the deleted message.
  package var message: Text?
  /// The length of the time-out.
  package var seconds: Int?
  /// The time of the platform's report or, for an act without one, of the newest message when the
  /// act ended. `nil` before the first message.
  package internal(set) var timestamp: Timestamp?
  /// The person who performed the act, if known.
  package internal(set) var by: Text?
  /// The outcome of the act, or `nil` if a platform reported the moderation and no act caused it.
  package internal(set) var outcome: RequestOutcome?
  /// Whether the platform reported the moderation.
  package internal(set) var isReported = false

  /// The maximum memory in bytes: five names, each with its memory block.
  static var byteLimit: Int { 5 * (EventLimits.nameLength + ByteSlab.padding + 64) }

  /// Returns whether one of the two moderations is an act, and the other is the platform's report
  /// of this act.
  fileprivate func isSame(as other: PersonModeration) -> Bool {
    guard isReported != other.isReported, (outcome == nil) != (other.outcome == nil),
      outcome?.isSuccess ?? true, other.outcome?.isSuccess ?? true
    else { return false }
    guard kind == other.kind, person.id == other.person.id, message == other.message,
      seconds == other.seconds
    else { return false }
    guard let timestamp, let otherTimestamp = other.timestamp else { return true }
    let (distance, overflow) = timestamp.subtractingReportingOverflow(otherTimestamp)
    return !overflow && distance.magnitude <= RecentModeration.reach
  }
}

/// The newest moderations of all people, oldest first. They are kept after the chat has removed the
/// people's messages.
package struct ModerationLog: Equatable, Sendable, Codable {
  package static let limit = 128
  package static var byteLimit: Int { limit * PersonModeration.byteLimit }

  package private(set) var entries: [PersonModeration] = []

  package init() {}

  /// Adds a moderation. The outcome of an act and the platform's report of it become one entry, in
  /// whichever order they arrive.
  mutating func record(_ moderation: PersonModeration) {
    if let index = entries.lastIndex(where: { $0.isSame(as: moderation) }) {
      if moderation.isReported { entries[index].timestamp = moderation.timestamp }
      entries[index].isReported = true
      entries[index].by = entries[index].by ?? moderation.by
      entries[index].outcome = entries[index].outcome ?? moderation.outcome
      return
    }
    if entries.count >= Self.limit { entries.removeFirst(entries.count - Self.limit + 1) }
    entries.append(moderation)
  }

  func newest(of id: Text) -> [PersonModeration] {
    entries.filter { $0.person.id == id }.suffix(PersonCard.moderationLimit)
  }
}

// MARK: Limits

extension PersonCard: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(person, "person")
    try require(names: name, in: "name")
    try require(badges.fits(EventLimits.textLength), "badges")
    try require(countable: messages, in: "messages")
    try require(times: firstAt, in: "firstAt")
    try check(newest, atMost: Self.messageLimit, "newest")
    try check(moderations, atMost: Self.moderationLimit, "moderations")
    try require(note?.utf8.count ?? 0 <= PersonNote.textLength, "note")
  }
}

extension PersonModeration: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(person, "person")
    try require(names: message, by, in: "message")
    try require(countable: seconds, in: "seconds")
    try require(times: timestamp, in: "timestamp")
    try require(names: outcome?.reason, in: "outcome")
  }
}

extension ModerationLog: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(entries, atMost: Self.limit, "entries")
  }
}
