@testable import Recordings

/// Where bytes were changed.
enum Changes {
  /// How many bytes at the beginning are as they were; `nil` if all are, and nothing is behind them.
  static func start(in before: [UInt8], _ after: [UInt8]?) -> Int? {
    guard let after else { return 0 }
    guard before != after else { return nil }
    return zip(before, after).enumerated().first { $1.0 != $1.1 }?.offset
      ?? min(before.count, after.count)
  }

  /// Whether there is no more of a segment than its first line.
  static func isBare(_ segment: [UInt8]) -> Bool {
    segment.dropLast().firstIndex(of: UInt8(ascii: "\n")) == nil
  }

  /// Whether there was a mark behind the first line of what was cut off segments: then something of it was synced.
  static func cutSynced(_ before: [[UInt8]?], to after: [[UInt8]?]) -> Bool {
    zip(before, after).contains { before, after in
      let before = before ?? []
      let cut = before[(start(in: before, after) ?? before.count)...]
      return (cut.withUnsafeBufferPointer { SegmentLines.lastMark(in: $0) } ?? 0) > 0
    }
  }
}
