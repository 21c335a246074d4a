package import Intake

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
  /// How long events may wait, by kind.
  package var throttling = ThrottlePolicies()

  package init() {}
}
