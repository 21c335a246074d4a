import Foundation
package import HostScreen
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

  /// Takes a snapshot that somebody may have changed.
  ///
  /// - Throws: ``Unreadable`` if it contains numbers from which a room could not continue, or more
  ///   than a room keeps.
  package init(decoding text: [UInt8]) throws {
    // The decoder would also take UTF-16, in which the checks below see nothing.
    guard text.first == UInt8(ascii: "{"), !text.contains(0) else { throw Unreadable.encoding }
    // Before they are decoded: whatever the state counts has one rule, and no list of what it
    // counts.
    if let name = text.withUnsafeBufferPointer(KeptNumbers.impossibleMember) {
      throw Unreadable.value(name)
    }
    try Self.checkLimits(of: text)
    self = try JSONDecoder().decode(RoomSnapshot.self, from: Data(text))
    try validate()
  }

  /// - Throws: ``Unreadable`` if the text of a snapshot contains more than a room keeps.
  static func checkLimits(of text: [UInt8]) throws(Unreadable) {
    if let name = text.withUnsafeBufferPointer(SnapshotLimits.excess) { throw .excess(name) }
  }

  private func validate() throws {
    guard instant >= .origin, instant <= RoomClock.latest else { throw Unreadable.value("instant") }
    guard savedAt >= 0 else { throw Unreadable.value("savedAt") }
    guard sequence.map({ $0 >= 0 }) ?? true else { throw Unreadable.value("sequence") }
    // Not where they are decoded: a room that is packed is decoded, too, and must come back
    // whatever it has.
    guard screen.counts.isPossible else { throw Unreadable.value("counts") }
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
    /// It contains a number that this program would not write.
    case value(String)
    /// It has more of this than a room keeps.
    case excess(String)
    /// Its text is not JSON in UTF-8, as this program writes it.
    case encoding

    var description: String {
      switch self {
      case .version(let version):
        "its format has version \(version), but this program reads versions up to \(FormatVersion.newest)"
      case .name(let room): "it belongs to room \(room)"
      case .unproven: "it has no checksum"
      case .value(let name): "its '\(name)' has an impossible value"
      case .excess(let name): "its '\(name)' is larger than the limit of a room"
      case .encoding: "it is not a JSON object in UTF-8"
      }
    }
  }
}
