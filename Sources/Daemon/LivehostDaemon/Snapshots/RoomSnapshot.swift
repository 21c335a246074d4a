import Foundation
package import HostScreen
package import LiveEvents
package import RateLimiting
import Recordings

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
  /// The log sequence of the newest batch that it contains; `nil` if an earlier version saved it,
  /// whose log is converted (`EarlierState`).
  package let sequence: Int?
  /// The open recording, if an earlier version saved it. Since then, the state of the recorder
  /// names it.
  let recording: EarlierRecording?
  /// What it was sent before; `nil` if it was saved by a version that did not remember that.
  let known: KnownEvents?

  package init(
    room: String, savedAt: Int, instant: Instant, screen: ScreenSnapshot, sequence: Int? = nil
  ) {
    self.init(
      room: room, savedAt: savedAt, instant: instant, screen: screen, sequence: sequence,
      known: nil)
  }

  init(
    room: String, savedAt: Int, instant: Instant, screen: ScreenSnapshot, sequence: Int?,
    known: KnownEvents?
  ) {
    self.known = known
    self.room = room
    self.savedAt = savedAt
    self.instant = instant
    self.screen = screen
    self.sequence = sequence
    recording = nil
  }

  /// A room in which nothing has happened.
  package init(room: String, savedAt: Int, sequence: Int? = nil) {
    self.init(
      room: room, savedAt: savedAt, instant: .origin, screen: ScreenSnapshot(),
      sequence: sequence)
  }

  /// What an earlier version saved of a recording that was open.
  struct EarlierRecording: Sendable, Codable {
    let recording: String
  }

  /// When it was taken.
  var moment: Moment { Moment(savedAt: savedAt, instant: instant) }

  /// A time, on the wall and in the room.
  struct Moment: Sendable {
    /// Milliseconds since 1970.
    let savedAt: Int
    let instant: Instant
  }

  /// Whether it was written by a version that wrote a checksum with it.
  package var mustBeProven: Bool { version.number >= FormatVersion.proven }

  /// Decodes a snapshot that may have been edited.
  ///
  /// - Throws: `DecodingError`; ``Unreadable``; ``OutOfBounds`` if it exceeds the limits of a room.
  ///   A hibernated room is decoded without this check.
  package init(decoding text: [UInt8]) throws {
    // The decoder would also read UTF-16, which this program does not write.
    guard text.first == UInt8(ascii: "{"), !text.contains(0) else { throw Unreadable.encoding }
    self = try JSONDecoder().decode(RoomSnapshot.self, from: Data(text))
    try checkBounds()
  }
}

extension RoomSnapshot: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: room, recording?.recording, in: "room")
    try require(instant >= .origin && instant <= RoomClock.latest, "instant")
    try require(EventLimits.total.contains(savedAt), "savedAt")
    try require(EventLimits.total.contains(sequence ?? 0), "sequence")
    try check(screen, "screen")
    try check(known, "known")
  }
}

extension RoomSnapshot {
  /// The number of the format in which rooms are saved.
  struct FormatVersion: Codable {
    /// The first version whose files end with a checksum.
    static let proven = 2
    /// The first version with a log sequence.
    static let newest = 3
    let number: Int

    /// - Throws: ``Unreadable`` for any other version than those that can be read.
    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
      guard (1...Self.newest).contains(number) else { throw Unreadable.version(number) }
    }

    init() { number = Self.newest }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
  }

  /// Why a saved room cannot be restored.
  enum Unreadable: Error, CustomStringConvertible {
    case version(Int)
    /// It belongs to this room, contrary to the name of its file.
    case name(String)
    /// It has lost its checksum.
    case unproven
    /// Its text is not JSON in UTF-8, as this program writes it.
    case encoding

    var description: String {
      switch self {
      case .version(let version):
        "its format has version \(version), but this program reads versions up to \(FormatVersion.newest)"
      case .name(let room): "it belongs to room \(room)"
      case .unproven: "it has no checksum"
      case .encoding: "it is not a JSON object in UTF-8"
      }
    }
  }
}
