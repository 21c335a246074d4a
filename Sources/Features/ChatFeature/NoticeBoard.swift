package import LiveEvents

/// A displayed notice, which owns its text.
package struct DisplayedNotice: Equatable, Sendable, Identifiable, Codable {
  /// The number of the notice in the room, starting at 1.
  package let number: Int
  /// The oldest timestamp of all notices in this entry.
  package fileprivate(set) var timestamp: Timestamp
  package fileprivate(set) var notice: ChatNotice
  /// The number of a gift bomb's gifts received so far.
  package fileprivate(set) var giftsSeen: Int
  package fileprivate(set) var isPinned = false

  package var id: Int { number }

  /// The number of gifts, months, viewers, or bits, depending on the kind. For a gift bomb, the
  /// larger of the announced number and the received gifts.
  package var count: Int { notice.kind == .giftBomb ? max(notice.count, giftsSeen) : notice.count }
}

/// The newest notices, the newest last. A pinned notice stays until it is unpinned or dismissed.
///
/// A gift bomb and its gifts form one entry, regardless of their order of arrival. The entry is
/// shown when the bomb's announcement arrives, which contains the total. If no announcement arrives
/// within ``bombWindow`` after the first gift, the entry is shown with the gifts received so far.
/// Later gifts are added to it.
package struct NoticeBoard: Equatable, Sendable, Codable {
  /// How long gifts wait for the announcement of their bomb, in milliseconds of the events' time.
  package static let bombWindow: Timestamp = 10_000
  package static let limit = 32
  /// The minimum number of remembered gift bombs. A late gift of a remembered bomb does not restore
  /// an entry that was removed.
  package static let groupMemory = 512

  package private(set) var entries: [DisplayedNotice] = []
  /// The entry number of each gift bomb.
  private var groups = RecentKeys<Text, Int>(capacity: groupMemory)
  /// The gift bombs without an announcement, oldest first, at most ``limit``.
  private var held: [HeldNotice] = []
  private var now: Timestamp = .min

  private struct HeldNotice: Equatable, Codable {
    var entry: DisplayedNotice
    let since: Timestamp
  }

  package init() {}

  /// The maximum length of the message in a notice, in bytes of UTF-8. No known platform allows
  /// such long messages.
  package static let textLength = 2_048

  /// Returns whether a shown or held entry contains a message that `target` removes.
  func containsText(of target: ModerationTarget) -> Bool {
    entries.contains { $0.containsText(of: target) }
      || held.contains { $0.entry.containsText(of: target) }
  }

  /// Removes the messages of `target` from the notices. The notices themselves stay.
  mutating func retract(_ target: ModerationTarget) {
    for index in entries.indices where entries[index].containsText(of: target) {
      entries[index].notice.message = nil
    }
    for index in held.indices where held[index].entry.containsText(of: target) {
      held[index].entry.notice.message = nil
    }
  }

  /// Whether gifts are waiting for the announcement of their bomb.
  package var isHolding: Bool { !held.isEmpty }

  /// The notice to show: the newest pinned notice, or else the newest.
  package var front: DisplayedNotice? { entries.last { $0.isPinned } ?? entries.last }

  /// Pins or unpins a notice. At most half of the notices can be pinned, so that new ones always
  /// fit.
  mutating func pin(_ number: Int, _ isPinned: Bool) {
    guard let position = entries.firstIndex(where: { $0.number == number }) else { return }
    if isPinned, entries.count(where: \.isPinned) >= Self.limit / 2 { return }
    entries[position].isPinned = isPinned
  }

  /// Removes a notice. Late gifts of a bomb do not restore it.
  mutating func dismiss(_ number: Int) { entries.removeAll { $0.number == number } }

  /// Advances the time, and shows entries that have waited for ``bombWindow``.
  mutating func advance(to time: Timestamp) {
    now = max(now, time)
    while let oldest = held.first {
      let (waited, overflow) = now.subtractingReportingOverflow(oldest.since)
      guard overflow || waited >= Self.bombWindow else { return }
      append(held.removeFirst().entry)
    }
  }

  /// Shows a notice, or adds it to its gift bomb. Takes O(``limit``).
  mutating func show(_ notice: ChatNotice, number: Int, at time: Timestamp) {
    advance(to: time)
    guard let group = notice.group, notice.kind == .gift || notice.kind == .giftBomb else {
      return append(
        DisplayedNotice(number: number, timestamp: time, notice: notice.owned(), giftsSeen: 0))
    }
    if let known = groups[group] {
      join(notice, to: known, at: time)
    } else {
      groups.set(number, for: group.owned())
      var entry = DisplayedNotice(
        number: number, timestamp: time, notice: notice.owned(), giftsSeen: 0)
      entry.notice.kind = .giftBomb
      entry.notice.count = 0
      entry.join(notice, at: time)
      if notice.kind == .giftBomb { append(entry) } else { hold(entry) }
    }
  }

  /// Adds a notice to a shown or held entry. A removed entry is not restored.
  private mutating func join(_ notice: ChatNotice, to number: Int, at time: Timestamp) {
    if let position = entries.lastIndex(where: { $0.number == number }) {
      entries[position].join(notice, at: time)
    } else if let position = held.lastIndex(where: { $0.entry.number == number }) {
      held[position].entry.join(notice, at: time)
      if notice.kind == .giftBomb { append(held.remove(at: position).entry) }
    }
  }

  private mutating func hold(_ entry: DisplayedNotice) {
    if held.count == Self.limit { append(held.removeFirst().entry) }
    held.append(HeldNotice(entry: entry, since: now))
  }

  private mutating func append(_ entry: DisplayedNotice) {
    if entries.count >= Self.limit {
      // In a manipulated saved state, all notices may be pinned.
      entries.remove(at: entries.firstIndex { !$0.isPinned } ?? 0)
    }
    entries.append(entry)
  }
}

extension DisplayedNotice {
  fileprivate func containsText(of target: ModerationTarget) -> Bool {
    guard let message = notice.message else { return false }
    switch target {
    case .everything: return true
    case .message(let id): return message.id == id
    case .author(let id): return notice.user.id == id
    case .ordinals: return false
    }
  }

  fileprivate mutating func join(_ notice: ChatNotice, at time: Timestamp) {
    timestamp = min(timestamp, time)
    if notice.kind == .giftBomb {
      self.notice = notice.owned()
    } else {
      giftsSeen += 1
    }
  }
}

extension ChatNotice {
  /// Returns a copy of the notice that does not keep the received line in memory.
  fileprivate func owned() -> ChatNotice {
    ChatNotice(
      kind: kind, user: Person(id: user.id.owned(), name: user.name.owned()), count: count,
      group: group?.owned(), message: message?.shortened(to: NoticeBoard.textLength))
  }
}

extension ChatMessage {
  /// Returns a copy of the message that does not keep the received line in memory. Its text is
  /// truncated to `limit` bytes.
  fileprivate func shortened(to limit: Int) -> ChatMessage {
    guard text.byteCount > limit else { return owned() }
    return ChatMessage(
      id: String(id), userID: String(userID), userName: String(userName), color: color,
      text: String(text.cut(to: limit)), isAction: isAction, emotes: emotes, kind: String(kind))
  }
}

extension NoticeBoard: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(entries, atMost: Self.limit, "entries")
    try check(held.map(\.entry), atMost: Self.limit, "held")
    for held in held { try require(times: held.since == .min ? nil : held.since, in: "held") }
    try groups.checkBounds("groups", \.isCountable)
    try require(times: now == .min ? nil : now, in: "now")
  }
}

extension DisplayedNotice: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, giftsSeen, in: "number")
    try require(times: timestamp, in: "timestamp")
    try check(notice, "notice")
  }
}
