import ActivityFeature
import ChatFeature
import ControlFeature
import Intake
import LiveEvents
import SourcesFeature
import WaitingRoomFeature

/// The most memory that the state of one room may take. Strangers choose texts, names and identifiers,
/// so every part of the sum has a limit of its own, where the part is.
package enum RoomBudget {
  /// In bytes.
  ///
  /// - Parameters:
  ///   - chatHistory: how many messages the chat keeps.
  ///   - analysesChat: whether the chat is searched for waves.
  package static func bytes(chatHistory: Int, analysesChat: Bool = false) -> Int {
    // What is shown, what passes a filter, and the open thread.
    3 * MessageHistory.byteLimit(for: chatHistory)
      + ChatterSet.byteLimit
      + WaitingList.byteLimit
      + 2 * ActivityFeed.byteLimit
      // What was written with notices, and with those that wait for their gift bomb; names and emotes besides.
      + 2 * NoticeBoard.limit * (2 * NoticeBoard.textLength)
      // The chat's and the waiting room's throttles.
      + 2 * HeldBytes.limit
      + tables
      // What belongs to no wave, and what is remembered to find them.
      + (analysesChat
        ? MessageHistory.byteLimit(for: chatHistory) + WaveBookkeeping.memory : 0)
  }

  /// Notices, moderation, gift bombs, controls, requests with what they failed for, title poll, prediction, goals and sources: identifiers and names, each with the block
  /// that it is in.
  private static let tables =
    (4 * RecentModeration.capacity + 2 * NoticeBoard.groupMemory + 6 * NoticeBoard.limit
      + 7 * ControlIntake.nameCapacity + Requests.maximumNames
      + 5 * SourcesFeature.limit
      + 2 * Prediction.maximumOptions)
    * (EventLimits.nameLength + ByteSlab.padding + 64)
}
