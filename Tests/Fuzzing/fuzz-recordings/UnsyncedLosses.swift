@testable import Recordings

/// The effects of an accident, judged by which data was synced.
struct UnsyncedLosses {
  /// Whether all synced data is unchanged.
  let areAll: Bool
  /// Whether, in addition, the unsynced rest could come from a program that ended during a write.
  let areTears: Bool

  init(_ written: ChainedSegments, _ found: [[UInt8]?]) {
    areAll = zip(zip(written.segments, written.syncedBytes), found).allSatisfy { written, found in
      found?.starts(with: written.0[..<written.1]) ?? false
    }
    guard areAll, let before = written.segments.last, let after = found.last ?? nil,
      let synced = written.syncedBytes.last
    else {
      areTears = areAll
      return
    }
    // A mark in blocks of another file claims that lines were synced that never existed in this
    // file. A closed segment does not grow.
    let lastMark = after[synced...].withUnsafeBufferPointer { SegmentLines.lastSyncedLine(in: $0) }
    areTears =
      written.mayEndEarly(found)
      && (lastMark ?? 0) == 0 && after.count <= before.count
  }
}
