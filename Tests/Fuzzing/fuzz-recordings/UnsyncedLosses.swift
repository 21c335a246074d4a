@testable import Recordings

/// What an accident did to segments, seen by who knows what was synced.
struct UnsyncedLosses {
  /// Whether everything that was synced is as it was.
  let areAll: Bool
  /// Whether, too, what is behind that can be what a program leaves that ends while it writes.
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
    // A mark in what is left of another file says of lines that were never here that they were synced. And a closed
    // segment does not grow.
    let lastMark = after[synced...].withUnsafeBufferPointer { SegmentLines.lastMark(in: $0) }
    areTears =
      written.mayEndEarly(found)
      && (lastMark ?? 0) == 0 && after.count <= before.count
  }
}
