import FileSystem
import GRDB
import LiveEvents

/// A recording, as a row of the catalogue.
struct RecordingRow: Codable, Equatable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "recording"
  var name: String
  var room: String
  var state: String
  var reason: String?
  var startedAt: Int
  var endedAt: Int?
  var digest: String?

  /// Marks the recording as damaged, with a message for users.
  mutating func markDamaged(_ reason: String) {
    state = RecordingState.damaged.rawValue
    self.reason = reason
  }

  mutating func markDamaged(_ damage: Damage) { markDamaged(damage.description) }
}

/// A segment, as a row of the catalogue. The rows of a recording serve as its index by time.
struct SegmentRow: Codable, Equatable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "segment"
  var recording: String
  var number: Int
  /// The size of the file in bytes, and when it last changed, in nanoseconds since 1970. If both
  /// match, the file is unchanged since it was examined.
  var bytes: Int
  var modified: Int
  var events: Int
  var frames: Int
  /// The room's time at the first and the last step, in nanoseconds.
  var firstAt: Int64?
  var lastAt: Int64?
  /// The checksum at the end of the previous segment, as stated in the header.
  var previous: String?
  /// The number and the checksum of the last valid line; `nil` if the lines are not chained.
  var lastLine: Int?
  var lastChecksum: Int64?
  var isDamaged: Bool

  var contents: SegmentContents {
    SegmentContents(events: events, frames: frames, first: firstAt, last: lastAt)
  }

  /// Whether a file is unchanged since it was examined.
  func isExamined(_ state: FileState) -> Bool {
    bytes == state.bytes && modified == state.modified
  }

  /// Whether the file was not recognised as a segment of the recording. Its row has no last valid
  /// line.
  var isForeign: Bool { isDamaged && lastLine == nil }

  /// Whether there is no regular file with the segment's name, and never was one.
  var isNothing: Bool { isForeign && modified == 0 }

  /// The row after the file was removed. It is kept, so that the segment counts as missing.
  var missing: SegmentRow {
    var row = self
    (row.bytes, row.modified, row.events, row.frames) = (0, 0, 0, 0)
    (row.firstAt, row.lastAt, row.isDamaged) = (nil, nil, true)
    return row
  }

  var chain: LineChain? {
    guard let lastLine, let lastChecksum else { return nil }
    return LineChain(number: lastLine, checksum: UInt32(truncatingIfNeeded: lastChecksum))
  }
}
