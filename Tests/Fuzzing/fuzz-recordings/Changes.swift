@testable import Recordings

/// Comparisons of segments before and after a change.
enum Changes {
  /// Returns the number of unchanged bytes at the start, or nil if all bytes are equal.
  static func start(in before: [UInt8], _ after: [UInt8]?) -> Int? {
    guard let after else { return 0 }
    guard before != after else { return nil }
    return zip(before, after).enumerated().first { $1.0 != $1.1 }?.offset
      ?? min(before.count, after.count)
  }

  /// Whether a segment has only its first line.
  static func isBare(_ segment: [UInt8]) -> Bool {
    segment.dropLast().firstIndex(of: UInt8(ascii: "\n")) == nil
  }

  /// Whether the removed ends of segments have a mark after their first line, which proves that
  /// some removed data was synced.
  static func cutSynced(_ before: [[UInt8]?], to after: [[UInt8]?]) -> Bool {
    zip(before, after).contains { before, after in
      let before = before ?? []
      let cut = before[(start(in: before, after) ?? before.count)...]
      return (cut.withUnsafeBufferPointer { SegmentLines.lastSyncedLine(in: $0) } ?? 0) > 0
    }
  }
}
