package import HostScreen
package import RateLimiting

/// A room as it is kept for the next start of the daemon.
package struct RoomSnapshot: Sendable, Codable {
  /// Of the format; another one is not read.
  package static let version = 1

  package private(set) var version = Self.version
  package let room: String
  /// Milliseconds since 1970.
  package let savedAt: Int
  /// The room's time.
  package let instant: Instant
  package let screen: ScreenSnapshot
  /// How far it is recorded; `nil` while it is not.
  package let recording: RecordedPosition?

  package init(
    room: String, savedAt: Int, instant: Instant, screen: ScreenSnapshot,
    recording: RecordedPosition?
  ) {
    self.room = room
    self.savedAt = savedAt
    self.instant = instant
    self.screen = screen
    self.recording = recording
  }
}

/// A place between two steps of a recording.
package struct RecordedPosition: Sendable, Codable, Equatable {
  package let recording: String
  /// The room's time at the last step before; the origin if there is none.
  package var instant = Instant.origin
  /// How many of the steps at ``instant`` stand before.
  package var steps = 0

  package init(recording: String) { self.recording = recording }

  /// Moves on by `count` steps at an instant. Instants never go back within a recording.
  package mutating func pass(_ count: Int, at instant: Instant) {
    if instant == self.instant { steps += count } else { (self.instant, steps) = (instant, count) }
  }
}
