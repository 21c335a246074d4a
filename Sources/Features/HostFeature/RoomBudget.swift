import ChatFeature
import ControlFeature
import Intake
import LiveEvents
import WaitingRoomFeature

/// The most memory that the state of one room may take. Strangers choose texts, names and identifiers,
/// so every part of the sum has a limit of its own, where the part is.
package enum RoomBudget {
  /// In bytes.
  ///
  /// - Parameter chatHistory: how many messages the chat keeps.
  package static func bytes(chatHistory: Int) -> Int {
    // What is shown, what passes a filter, the open thread, and what belongs to no wave.
    4 * MessageHistory.byteLimit(for: chatHistory)
      + ChatterSet.byteLimit
      + WaveBookkeeping.memory
      + WaitingList.byteLimit
      // The chat's and the waiting room's throttles.
      + 2 * HeldBytes.limit
      + tables
  }

  /// Notices, moderation, gift bombs, controls, requests with what they failed for, title and poll: identifiers and names, each with the block
  /// that it is in.
  private static let tables =
    (4 * RecentModeration.capacity + 2 * NoticeBoard.groupMemory + 6 * NoticeBoard.limit
      + 7 * ControlIntake.nameCapacity + Requests.maximumNames)
    * (EventLimits.nameLength + ByteSlab.padding + 64)
}
