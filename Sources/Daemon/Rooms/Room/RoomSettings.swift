package import Throttling

/// The settings of all rooms, from the configuration.
package struct RoomSettings: Sendable, Equatable {
  /// The maximum number of open rooms.
  package var maximumRooms = 64
  /// The maximum number of chat messages that a room stores.
  package var chatHistory = 500
  /// The maximum number of chat messages in a reply of `GetRoom`.
  package var reportedMessages = 50
  /// Whether the chat is searched for bursts of duplicates, that is, of nearly identical messages.
  package var analysesChat = false
  /// The maximum frame rate, which is used while the screen changes.
  package var framesPerSecond = 60
  /// How long a request waits for its outcome.
  package var requestTimeout = Duration.seconds(5)
  /// How long a room must be unchanged and unwatched before it hibernates; `nil` means never.
  package var hibernatesAfter: Duration? = .seconds(600)
  package var views = ViewEvaluation.always
  /// How long events may be delayed, by kind.
  package var throttling = ThrottlePolicies()

  package init() {}

  /// When a room's views are evaluated.
  package enum ViewEvaluation: String, CaseIterable, Sendable {
    /// Views are evaluated in each frame in which their data changes, so that causes and times are
    /// known.
    case always
    /// Views are evaluated only while someone watches the room, and when someone reads it.
    case watched
  }
}
