package import LiveEvents

/// A notice that is shown. It owns its text.
package struct DisplayedNotice: Equatable, Sendable, Identifiable, Codable {
  /// The ordinal of the notice among all of the room, starting at 1.
  package let number: Int
  /// The oldest time stamp of all notices it represents.
  package fileprivate(set) var timestamp: Timestamp
  package fileprivate(set) var notice: ChatNotice
  /// How many gifts of a gift bomb have arrived so far.
  package fileprivate(set) var giftsSeen: Int
  /// Whether the host wants to keep seeing it.
  package fileprivate(set) var isPinned = false

  package var id: Int { number }

  /// Gifts, months, viewers or bits, depending on the kind. For a gift bomb, the number its
  /// announcement says, or, if that never came, the gifts seen.
  package var count: Int { notice.kind == .giftBomb ? max(notice.count, giftsSeen) : notice.count }
}

/// The newest notices, newest last. A pinned notice stays until it is unpinned or dismissed.
///
/// A gift bomb and its gifts are one entry, in whatever order they arrive. It is shown when the
/// announcement of the bomb arrives, which knows the total. If that does not happen within
/// ``bombWindow`` of the first gift, the gifts seen by then are shown, and later ones are added.
package struct NoticeBoard: Equatable, Sendable, Codable {
  /// How long gifts wait for the announcement of their bomb, in milliseconds of the events' time.
  package static let bombWindow: Timestamp = 10_000
  /// How many notices are kept.
  package static let limit = 32
  /// At least this many gift bombs are remembered, so that a late gift does not bring back an entry
  /// that has left the board.
  package static let groupMemory = 512

  package private(set) var entries: [DisplayedNotice] = []
  /// The number of the entry of each gift bomb.
  private var groups = RecentKeys<Text, Int>(capacity: groupMemory)
  /// Gift bombs whose announcement has not arrived, the oldest first; at most ``limit``.
  private var held: [Held] = []
  /// The newest time seen.
  private var now: Timestamp = .min

  private struct Held: Equatable, Codable {
    var entry: DisplayedNotice
    let since: Timestamp
  }

  package init() {}

  /// The most that is kept of what a person wrote with a notice, in bytes of UTF-8: far more than a platform lets through.
  package static let textLength = 2_048

  /// Whether an entry, shown or held, has words that a moderator removes.
  func says(_ target: ModerationTarget) -> Bool {
    entries.contains { $0.says(target) } || held.contains { $0.entry.says(target) }
  }

  /// Removes the words of a message or a person. What happened stays.
  mutating func retract(_ target: ModerationTarget) {
    for index in entries.indices where entries[index].says(target) {
      entries[index].notice.message = nil
    }
    for index in held.indices where held[index].entry.says(target) {
      held[index].entry.notice.message = nil
    }
  }

  /// Whether gifts are waiting for the announcement of their bomb.
  package var isHolding: Bool { !held.isEmpty }

  /// The notice to show: the newest pinned one, or else the newest.
  package var front: DisplayedNotice? { entries.last { $0.isPinned } ?? entries.last }

  /// Pins a notice, or unpins it. At most half of the board can be pinned, so that new notices
  /// always fit.
  mutating func pin(_ number: Int, _ isPinned: Bool) {
    guard let position = entries.firstIndex(where: { $0.number == number }) else { return }
    if isPinned, entries.count(where: \.isPinned) >= Self.limit / 2 { return }
    entries[position].isPinned = isPinned
  }

  /// Removes a notice; late gifts of a bomb do not bring it back.
  mutating func dismiss(_ number: Int) { entries.removeAll { $0.number == number } }

  /// Advances the time, and shows what has waited long enough.
  mutating func advance(to time: Timestamp) {
    now = max(now, time)
    while let oldest = held.first {
      let (waited, overflow) = now.subtractingReportingOverflow(oldest.since)
      guard overflow || waited >= Self.bombWindow else { return }
      append(held.removeFirst().entry)
    }
  }

  /// Shows a notice, or adds it to the gift bomb it belongs to.
  ///
  /// - Complexity: O(``limit``).
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

  /// Adds a notice to an entry, shown or held; an entry that is gone stays gone.
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
    held.append(Held(entry: entry, since: now))
  }

  private mutating func append(_ entry: DisplayedNotice) {
    if entries.count >= Self.limit {
      // In a saved board that somebody else has written, all may be pinned.
      entries.remove(at: entries.firstIndex { !$0.isPinned } ?? 0)
    }
    entries.append(entry)
  }
}

extension DisplayedNotice {
  fileprivate func says(_ target: ModerationTarget) -> Bool {
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
  /// The same notice, owning its text.
  fileprivate func owned() -> ChatNotice {
    ChatNotice(
      kind: kind, user: Person(id: user.id.owned(), name: user.name.owned()), count: count,
      group: group?.owned(), message: message?.shortened(to: NoticeBoard.textLength))
  }
}

extension ChatMessage {
  /// The same message, owning its text, of which the beginning is kept.
  fileprivate func shortened(to limit: Int) -> ChatMessage {
    guard text.byteCount > limit else { return owned() }
    return ChatMessage(
      id: String(id), userID: String(userID), userName: String(userName), color: color,
      text: String(text.cut(to: limit)), isAction: isAction, emotes: emotes, kind: String(kind))
  }
}
