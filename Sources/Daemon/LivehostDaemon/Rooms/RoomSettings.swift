package import Throttling

/// What the configuration says about rooms.
package struct RoomSettings: Sendable, Equatable {
  /// How many rooms may be open at once.
  package var maximumRooms = 64
  /// How many chat messages a room keeps.
  package var chatHistory = 500
  /// How many of them `GetRoom` shows.
  package var reportedMessages = 50
  /// Whether the chat is searched for waves of messages that are nearly identical.
  package var analysesChat = false
  /// Frames per second while something changes.
  package var framesPerSecond = 60
  /// How long the outcome of a request is waited for.
  package var requestTimeout = Duration.seconds(5)
  /// After which time a room is packed in which nothing happens, and that nobody watches; `nil` is
  /// never.
  package var packsAfter: Duration? = .seconds(600)
  /// When views are evaluated.
  package var views = ViewEvaluation.always
  /// How long events may wait, by kind.
  package var throttling = ThrottlePolicies()

  package init() {}

  /// When a room's views are evaluated.
  package enum ViewEvaluation: String, CaseIterable, Sendable {
    /// With each frame that concerns them, so that their causes and times are known.
    case always
    /// While somebody watches, and when somebody looks.
    case watched
  }
}
