import ActivityFeature
import ChatFeature
import ControlFeature
import LiveEvents
import SourcesFeature
import Throttling
import WaitingRoomFeature

/// The maximum memory of the state of one room. Texts, names, and identifiers are untrusted, so
/// each summand is a limit that is defined where such data is stored.
package enum RoomBudget {
  /// Returns the maximum in bytes for a chat that keeps at most `chatHistory` messages, and that is
  /// searched for bursts of duplicates if `analysesChat` is true.
  package static func bytes(chatHistory: Int, analysesChat: Bool = false) -> Int {
    // The displayed messages, the filtered messages, and the open thread.
    3 * MessageHistory.byteLimit(for: chatHistory)
      + ChatterSet.byteLimit
      + WaitingList.byteLimit
      + 2 * ActivityFeed.byteLimit
      // The messages of notices, and of notices that wait for their gift bomb, including names and
      // emotes.
      + 2 * NoticeBoard.limit * (2 * NoticeBoard.textLength)
      + PersonCard.byteLimit + ModerationLog.byteLimit + PersonNotes.byteLimit
      // The throttles of the chat and of the waiting room.
      + 2 * HeldBytes.limit
      + tables
      // The titles and categories of the sources.
      + SourceLimits.sources * (EventLimits.titleLength + EventLimits.nameLength)
      // The messages outside bursts of duplicates, and the state of the search for bursts.
      + (analysesChat
        ? MessageHistory.byteLimit(for: chatHistory) + BurstBookkeeping.memory : 0)
  }

  /// The tables of notices, moderation, gift bombs, controls, requests with their failures, title,
  /// poll, prediction, goals, and sources. Each identifier and name is counted with its memory
  /// block.
  private static let tables =
    (4 * RecentModeration.capacity + 2 * NoticeBoard.groupMemory + 6 * NoticeBoard.limit
      + 7 * ControlThrottle.nameCapacity + Requests.maximumNames
      + 5 * SourcesFeature.limit
      + 2 * Prediction.maximumOptions)
    * (EventLimits.nameLength + ByteSlab.padding + 64)
}
