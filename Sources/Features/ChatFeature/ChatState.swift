package import Analysis
package import Composable
package import LiveEvents
package import RateLimiting

extension ChatFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// Messages so far, including those deleted since.
    package var total = 0
    /// How many people have written a message.
    package var chatters = 0
    /// `true` once there were more people than can be told apart: ``chatters`` is a lower bound then.
    package var chattersAtLeast: Bool?
    /// `true` once messages came from more than one platform; which one is shown with each then.
    package var isMixed: Bool?
    /// Messages that moderation removed from the screen or kept from being shown.
    package var deleted = 0
    /// Deletions, clears, time-outs and bans.
    package var moderations = 0
    /// Notices so far, including each gift of a gift bomb.
    package var noticeCount = 0
    /// Messages in the second before the newest time stamp.
    package var rate = 0
    /// ``rate`` over time; `nil` before the first sample.
    package var rateHistory: History?
    package var busiestSecond = PeakSecond()
    /// The messages that are shown, oldest first.
    package var messages: MessageHistory
    /// The newest notices.
    package var notices = NoticeBoard()
    /// The people who wrote the most, the busiest first.
    package var topChatters: [TopChatter] = []
    /// Those of ``messages`` that pass ``filter``; `nil` without a filter. Updated with each
    /// message, so that no view has to search the history.
    package var filtered: MessageHistory?
    package var filter: ChatFilter?
    /// The waves of messages that are nearly identical; `nil` unless the chat is analysed.
    package var waves: Waves?
    /// Those of ``messages`` that were looked at and belong to no wave; `nil` unless the chat is analysed.
    package var folded: MessageHistory?
    /// When the chat was busier than before; `nil` until it was, and unless it is analysed.
    package var highlights: HighlightTimeline?
    /// The thread that is open, with its messages.
    package var thread: ChatThread?
    /// The number of the last message before the host scrolled back; `nil` while following.
    package var readUpTo: Int?
    /// Visible messages that have arrived since, including those that have left the history.
    package var unread = 0
    /// Names whose mentions are marked.
    package var mentionedNames = MentionedNames()
    /// The modes in force, as far as the source has reported them.
    package var modes = ChatModes()
    /// Not for views, and large: changed in place without notifying observers.
    @ObservationStateIgnored package var bookkeeping = ChatBookkeeping()

    /// - Parameter historyLimit: how many messages are kept for display; above zero.
    package init(historyLimit: Int = 500) {
      messages = MessageHistory(limit: historyLimit)
    }
  }
}

extension ChatFeature.State {
  /// Whether this is the limit of all that is kept of the messages.
  package func keepsHistory(of limit: Int) -> Bool {
    [messages, filtered, folded, thread?.messages].allSatisfy { $0?.limit ?? limit == limit }
  }

  /// Changes how many messages are kept.
  ///
  /// - Complexity: O(history) if that is another number than before.
  package mutating func limitHistory(to limit: Int) {
    messages = messages.limited(to: limit)
    filtered = filtered?.limited(to: limit)
    folded = folded?.limited(to: limit)
    if let kept = thread?.messages.limited(to: limit) { thread?.messages = kept }
  }
}

/// What the chat has to remember in order to count and to moderate.
package struct ChatBookkeeping: Equatable, Sendable, Codable {
  package var chatters = ChatterSet()
  package var pace = MessagePace()
  package var moderation = RecentModeration()
  package var rateSampler: HistorySampler?
  /// What is left of a review of the history; `nil` if there is none in progress.
  var review: HistoryReview?
  /// The first platform of a message, and the newest origin while there is no other platform.
  private var platform: Text?
  private var newestOrigin: Origin?
  /// `nil` unless the chat is analysed.
  var analysis: WaveBookkeeping?
  /// `nil` until something is hidden in a chat that is analysed.
  var hiddenWords: HiddenWords?

  package init() {}

  /// How many platforms are named by messages so far, these included; those of a chat that has several are not looked
  /// at any more, so that 2 stands for more.
  mutating func platforms(_ batch: [TimedMessage]) -> Int {
    for index in batch.indices {
      let origin = batch[index].origin
      // Nearly all have that of the message before.
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

  /// Counts messages. Returns the indices of those that must not be shown, in ascending order.
  mutating func count(_ batch: [TimedMessage]) -> [Int] {
    var late: [Int] = []
    chatters.count(authorsOf: batch)
    var start = batch.startIndex
    while start < batch.endIndex {
      // In a busy chat many have the same.
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
  /// These modes, with those set in `changes` replaced.
  func merging(_ changes: ChatModes) -> ChatModes {
    ChatModes(
      slowSeconds: changes.slowSeconds ?? slowSeconds,
      emoteOnly: changes.emoteOnly ?? emoteOnly,
      followersOnlyMinutes: changes.followersOnlyMinutes ?? followersOnlyMinutes,
      subscribersOnly: changes.subscribersOnly ?? subscribersOnly,
      uniqueOnly: changes.uniqueOnly ?? uniqueOnly)
  }
}
