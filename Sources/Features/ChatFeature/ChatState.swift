package import Analysis
package import Composable
package import LiveEvents
package import RateLimiting

extension ChatFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The number of messages so far, including messages that were deleted since.
    package var total = 0
    /// The number of people who have written a message.
    package var chatters = 0
    /// `true` after more people wrote than can be counted exactly, so that ``chatters`` is a lower
    /// bound.
    package var chattersAtLeast: Bool?
    /// `true` after messages arrived from several platforms, so that each message shows its
    /// platform.
    package var isMixed: Bool?
    /// The number of messages that moderation removed from the screen or prevented from appearing.
    package var deleted = 0
    /// The number of deletions, clears, time-outs, and bans.
    package var moderations = 0
    /// The number of notices so far, including each gift of a gift bomb.
    package var noticeCount = 0
    /// The number of messages in the second before the newest timestamp.
    package var rate = 0
    /// ``rate`` over time, or `nil` before the first sample.
    package var rateHistory: History?
    package var busiestSecond = PeakSecond()
    /// The displayed messages, oldest first.
    package var messages: MessageHistory
    package var notices = NoticeBoard()
    /// The people who wrote the most messages, busiest first.
    package var topChatters: [TopChatter] = []
    /// The ``messages`` that pass ``filter``, updated with each message so that no view has to
    /// search the history. `nil` without a filter.
    package var filtered: MessageHistory?
    package var filter: ChatFilter?
    /// The bursts of duplicates, or `nil` unless the chat is analysed.
    package var waves: Bursts?
    /// The analysed ``messages`` that belong to no burst of duplicates. `nil` unless the chat is
    /// analysed.
    package var folded: MessageHistory?
    /// The periods in which the chat was unusually busy. `nil` before the first such period, or if
    /// the chat is not analysed.
    package var highlights: HighlightTimeline?
    package var thread: ChatThread?
    /// The card of a person that the host opened.
    package var card: PersonCard?
    /// The host's notes about people, or `nil` if there are none.
    package var notes: PersonNotes?
    /// The number of the last message before the host scrolled back. `nil` while the newest
    /// messages are shown.
    package var readUpTo: Int?
    /// The number of visible messages since the host scrolled back, including messages that have
    /// left the history.
    package var unread = 0
    package var mentionedNames = MentionedNames()
    /// The active chat modes that the source has reported.
    package var modes = ChatModes()
    /// The acts on platforms. `nil` before a controller that can carry out acts connected.
    package var acts: ChatActs?
    /// Large data that views do not read. It is changed in place without notifying observers.
    @ObservationStateIgnored package var bookkeeping = ChatBookkeeping()

    /// - Parameter historyLimit: The maximum number of displayed messages, at least 1.
    package init(historyLimit: Int = 500) {
      messages = MessageHistory(limit: historyLimit)
    }
  }
}

extension ChatFeature.State {
  /// Returns whether all lists of messages have this limit.
  package func hasHistoryLimit(_ limit: Int) -> Bool {
    [messages, filtered, folded, thread?.messages].allSatisfy { $0?.limit ?? limit == limit }
  }

  /// Changes the limit of all lists of messages. Takes O(history) if the limit changes; otherwise
  /// O(1).
  package mutating func limitHistory(to limit: Int) {
    messages = messages.limited(to: limit)
    filtered = filtered?.limited(to: limit)
    folded = folded?.limited(to: limit)
    if let messages = thread?.messages.limited(to: limit) { thread?.messages = messages }
  }
}

/// The data that the chat needs for counting and moderation.
package struct ChatBookkeeping: Equatable, Sendable, Codable {
  package var chatters = ChatterSet()
  package var pace = MessagePace()
  package var moderation = RecentModeration()
  package var rateSampler: HistorySampler?
  /// The rest of a review of the history, or `nil` if no review is in progress.
  var review: HistoryReview?
  /// The platform of the first message that has one. ``newestOrigin`` is the origin of the newest
  /// message while all messages have the same platform.
  private var platform: Text?
  private var newestOrigin: Origin?
  /// The state of the analysis, or `nil` unless the chat is analysed.
  var analysis: BurstBookkeeping?
  /// The words of deleted messages, or `nil` before a message was deleted in an analysed chat.
  var hiddenWords: HiddenWords?
  /// The newest moderations, or `nil` before the first one.
  package var moderationLog: ModerationLog?

  package init() {}

  /// Returns the number of different platforms of messages so far, including this batch, up to 2.
  /// Messages are no longer checked after the result was 2.
  mutating func platforms(_ batch: [TimedMessage]) -> Int {
    for index in batch.indices {
      let origin = batch[index].origin
      // Nearly all messages have the origin of the previous message.
      guard origin != newestOrigin ?? Origin.none else { continue }
      newestOrigin = origin
      let named = origin.platform
      if named.isEmpty { continue }
      guard let platform else {
        self.platform = named
        continue
      }
      if named != platform { return 2 }
    }
    return platform == nil ? 0 : 1
  }

  /// Counts messages. Returns the indices of messages that must not be shown, in ascending order.
  mutating func count(_ batch: [TimedMessage]) -> [Int] {
    var late: [Int] = []
    chatters.count(authorsOf: batch)
    var start = batch.startIndex
    while start < batch.endIndex {
      // In a busy chat, many messages have the same timestamp.
      let time = batch[start].timestamp
      var end = start + 1
      while end < batch.endIndex, batch[end].timestamp == time { end += 1 }
      pace.count(time, times: end - start)
      if moderation.concerns(time) {
        late += (start..<end).filter { moderation.hides(batch[$0].message, at: time) }
      }
      start = end
    }
    pace.settle()
    return late
  }
}

extension ChatModes {
  /// Returns a copy of these modes, in which the modes that `changes` sets are replaced.
  func merging(_ changes: ChatModes) -> ChatModes {
    ChatModes(
      slowSeconds: changes.slowSeconds ?? slowSeconds,
      emoteOnly: changes.emoteOnly ?? emoteOnly,
      followersOnlyMinutes: changes.followersOnlyMinutes ?? followersOnlyMinutes,
      subscribersOnly: changes.subscribersOnly ?? subscribersOnly,
      uniqueOnly: changes.uniqueOnly ?? uniqueOnly)
  }
}

extension ChatFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(
      countable: total, chatters, deleted, moderations, noticeCount, rate, busiestSecond.byClock,
      busiestSecond.sliding, readUpTo, unread, in: "total")
    try check(messages, "messages")
    try check(notices, "notices")
    try check(topChatters, atMost: TopChatter.limit, "topChatters")
    try check(filtered, "filtered")
    try check(filter, "filter")
    try check(waves, "waves")
    try check(folded, "folded")
    try check(highlights, "highlights")
    try check(thread?.messages, "thread")
    try require(countable: thread?.root, in: "thread")
    try check(card, "card")
    try check(notes, "notes")
    try require(
      names: mentionedNames.names, atMost: ChatEvent.maximumHighlightedNames, in: "mentionedNames")
    try check(modes, "modes")
    try check(acts, "acts")
    try check(bookkeeping, "bookkeeping")
  }
}

extension ChatBookkeeping: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(chatters, "chatters")
    try check(pace, "pace")
    try check(moderation, "moderation")
    try require(countable: review?.next, analysis?.run, in: "review")
    try require(names: platform, newestOrigin?.platform, newestOrigin?.source, in: "platform")
    try check(hiddenWords, "hiddenWords")
    try check(moderationLog, "moderationLog")
  }
}
