import Foundation
package import HostScreen
package import LiveEvents
package import RateLimiting
import Recordings

/// The saved state of a room, from which the next start of the daemon restores it.
package struct RoomSnapshot: Sendable, Codable {
  /// Decoded first, so that a snapshot of an unknown version is rejected before anything else is
  /// decoded.
  private var version = FormatVersion()
  package let room: String
  /// Milliseconds since 1970.
  package let savedAt: Int
  /// The room's time.
  package let instant: Instant
  package let screen: ScreenSnapshot
  /// The log sequence of the newest batch that the snapshot contains; `nil` in snapshots of earlier
  /// versions, whose log is converted (`EarlierState`).
  package let sequence: Int?
  /// The open recording, only in snapshots of earlier versions. Newer snapshots name it in the
  /// state of the recorder.
  package let recording: EarlierRecording?
  /// The events that the room has received; `nil` in snapshots of versions that did not remember
  /// them.
  package let known: KnownEvents?

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

  /// Creates the snapshot of a room in which nothing has happened.
  package init(room: String, savedAt: Int, sequence: Int? = nil) {
    self.init(
      room: room, savedAt: savedAt, instant: .origin, screen: ScreenSnapshot(),
      sequence: sequence)
  }

  /// The open recording in a snapshot of an earlier version.
  package struct EarlierRecording: Sendable, Codable {
    let recording: String
  }

  /// When it was taken.
  var moment: Moment { Moment(savedAt: savedAt, instant: instant) }

  /// A time on the wall clock, and the room's time then.
  struct Moment: Sendable {
    /// Milliseconds since 1970.
    let savedAt: Int
    let instant: Instant
  }

  /// Whether the snapshot must have a checksum, because the version that wrote it adds checksums.
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
  /// The version of the format of snapshots.
  struct FormatVersion: Codable {
    /// The first version whose files end with a checksum.
    static let proven = 2
    /// The first version with a log sequence.
    static let newest = 3
    let number: Int

    /// - Throws: ``Unreadable`` if this program cannot read the version.
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
    /// The snapshot belongs to this room, although its file has the name of another one.
    case name(String)
    /// The snapshot has lost its checksum.
    case unproven
    /// The text is not a JSON object in UTF-8, which this program always writes.
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
