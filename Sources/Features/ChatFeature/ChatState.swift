package import Composable
package import LiveEvents

extension ChatFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// Messages so far, those since deleted included.
    package var total = 0
    /// People who wrote a message.
    package var chatters = 0
    /// Messages that moderation took off the screen or that came too late to be shown.
    package var deleted = 0
    /// Deletions, clears, time-outs and bans.
    package var moderations = 0
    /// Notices so far, each gift of a gift bomb among them.
    package var noticeCount = 0
    /// Messages in the second before the newest time stamp.
    package var rate = 0
    package var busiestSecond = BusiestSecond()
    /// What is shown, oldest first.
    package var messages: ChatHistory
    /// The last notices.
    package var notices = NoticeBoard()
    /// Who wrote most, the busiest first.
    package var topChatters: [TopChatter] = []
    /// What of ``messages`` passes ``filter``; `nil` while there is none. Kept up to date with each
    /// message, so that no view has to look through the history.
    package var filtered: ChatHistory?
    package var filter: ChatFilter?
    /// The thread that is open, with its messages.
    package var thread: ChatThread?
    /// The last message that was read before the host scrolled back; `nil` while following.
    package var readUpTo: Int?
    /// Messages to be seen that came since, those included that the history has lost.
    package var unread = 0
    /// Names whose mention is marked.
    package var mentionedNames = MentionedNames()
    /// The modes in force, as far as the source told.
    package var modes = ChatModes()
    /// Not for views, and large: changed in place, never told to observers.
    @ObservationStateIgnored package var bookkeeping = ChatBookkeeping()

    /// - Parameter historyLimit: how many messages are kept to be shown; above zero.
    package init(historyLimit: Int = 500) {
      messages = ChatHistory(limit: historyLimit)
    }
  }
}

/// What chat has to remember in order to count and to moderate.
package struct ChatBookkeeping: Equatable, Sendable, Codable {
  package var chatters = ChatterSet()
  package var pace = MessagePace()
  package var moderation = RecentModeration()

  /// Counts messages. Returns the positions of those that must not be shown, in ascending order.
  mutating func count(_ batch: [TimedMessage]) -> [Int] {
    var late: [Int] = []
    for position in batch.indices {
      let time = batch[position].timestamp
      let message = batch[position].message
      chatters.count(message.userID, name: message.userName)
      pace.count(time)
      if moderation.concerns(time), moderation.hides(message, at: time) {
        late.append(position)
      }
    }
    pace.settle()
    return late
  }
}

extension ChatModes {
  /// These modes with those that `changes` names replaced.
  func merging(_ changes: ChatModes) -> ChatModes {
    ChatModes(
      slowSeconds: changes.slowSeconds ?? slowSeconds,
      emoteOnly: changes.emoteOnly ?? emoteOnly,
      followersOnlyMinutes: changes.followersOnlyMinutes ?? followersOnlyMinutes,
      subscribersOnly: changes.subscribersOnly ?? subscribersOnly,
      uniqueOnly: changes.uniqueOnly ?? uniqueOnly)
  }
}
