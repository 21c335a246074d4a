package import HostScreen
package import RateLimiting

/// A room as it is saved for the next start of the daemon.
package struct RoomSnapshot: Sendable, Codable {
  /// Decoded first: nothing else is decoded from another version.
  private var version = FormatVersion()
  package let room: String
  /// Milliseconds since 1970.
  package let savedAt: Int
  /// The room's time.
  package let instant: Instant
  package let screen: ScreenSnapshot
  /// How far the room is recorded; `nil` if it is not being recorded.
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

  /// - Throws: ``Unreadable`` if it contains times from which a room could not continue.
  func validate() throws {
    guard instant >= .origin, instant <= RoomClock.latest else { throw Unreadable.value("instant") }
    guard savedAt >= 0, savedAt <= 1 << 53 else { throw Unreadable.value("savedAt") }
    guard recording.map({ $0.steps >= 0 }) ?? true else { throw Unreadable.value("steps") }
  }
}

extension RoomSnapshot {
  /// The number of the format in which rooms are saved.
  struct FormatVersion: Codable {
    static let number = 1

    /// - Throws: ``Unreadable`` for any other version.
    init(from decoder: any Decoder) throws {
      let found = try decoder.singleValueContainer().decode(Int.self)
      guard found == Self.number else { throw Unreadable.version(found) }
    }

    init() {}

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(Self.number)
    }
  }

  /// Why a saved room cannot be restored.
  enum Unreadable: Error, CustomStringConvertible {
    case version(Int)
    /// It belongs to this room, contrary to the name of its file.
    case name(String)
    /// It is larger than any that this program would write.
    case size(Int)
    /// It contains a number that this program would not write.
    case value(String)

    var description: String {
      switch self {
      case .version(let version):
        "it is of version \(version), this program reads \(FormatVersion.number)"
      case .name(let room): "it is that of room \(room)"
      case .size(let bytes): "it has \(bytes) bytes, more than any room may take"
      case .value(let name): "its '\(name)' is not possible"
      }
    }
  }
}

/// A position between two steps of a recording.
package struct RecordedPosition: Sendable, Codable, Equatable {
  package let recording: String
  /// The room's time at the last step before; the origin if there is none.
  package var instant = Instant.origin
  /// How many of the steps at ``instant`` precede it.
  package var steps = 0

  package init(recording: String) { self.recording = recording }

  /// Advances by `count` steps at an instant. Instants never decrease within a recording.
  package mutating func advance(by count: Int, at instant: Instant) {
    if instant == self.instant { steps += count } else { (self.instant, steps) = (instant, count) }
  }
}
