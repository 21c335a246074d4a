import FileSystem
import Glibc

/// A segment that a recovery has read because it is not in the catalogue, or has changed since it
/// was listed there.
struct RecoveredSegment {
  let segment: RecoveryPlan.Segment
  private(set) var scan: SegmentScan
  /// The number of bytes that were certainly synced.
  private(set) var syncedBytes: Int
  /// Whether its last line announced a segment that is removed.
  private(set) var isReopened = false
  /// The recording to which the segment belongs, if it is in the directory of another one.
  private let foreignName: String?

  init(_ segment: RecoveryPlan.Segment, _ scan: SegmentScan, of plan: RecoveryPlan) {
    (self.segment, self.scan) = (segment, scan)
    // A segment is entered into the catalogue after it was synced.
    let known = plan.knownSegments.first { $0.number == segment.number }
    syncedBytes = max(scan.syncedBytes, known?.lastLine == nil ? 0 : known?.bytes ?? 0)
    foreignName = Self.foreignName(scan, of: segment, known, in: plan)
  }

  private static func foreignName(
    _ scan: SegmentScan, of segment: RecoveryPlan.Segment, _ known: SegmentRow?,
    in plan: RecoveryPlan
  ) -> String? {
    guard let name = scan.header?.name, name != plan.name, !plan.mayBeRenamed else { return nil }
    guard let known, !known.isForeign else { return name }
    // The directory was renamed before. The segment must still be the one that was examined then.
    let isWhole = scan.end != nil && !scan.isDamaged
    let isSame =
      isWhole
      ? known.chain == scan.chain && known.contents == scan.contents
      : segment.bytes <= known.bytes
    return isSame ? nil : name
  }

  /// Whether it belongs to another recording, or to another place in this one.
  var isMisplaced: Bool {
    foreignName != nil || scan.header.map { $0.segment != segment.number } ?? false
  }

  /// Whether it contains nothing but its header.
  var isEmpty: Bool {
    scan.lines == 1 && scan.chain != nil && !isMisplaced && syncedBytes <= scan.goodBytes
  }

  /// The damage, if it belongs to another recording.
  var damage: Damage? { foreignName.map { Damage(segment: segment.number, .foreign($0)) } }

  /// Removes the last line if it announces another segment.
  mutating func reopen() {
    guard scan.isContinued, scan.goodBytes == segment.bytes else { return }
    scan = scan.withoutEnd
    (syncedBytes, isReopened) = (min(syncedBytes, scan.goodBytes), true)
  }

  /// Returns this segment as the completed form of `earlier`. If that was reopened, the catalogue
  /// may state a larger size.
  func completed(from earlier: RecoveredSegment) -> RecoveredSegment {
    var found = self
    if earlier.isReopened { (found.syncedBytes, found.isReopened) = (scan.syncedBytes, true) }
    return found
  }

  /// Returns the catalogue's row for the segment.
  ///
  /// - Parameter isTorn: whether invalid lines at the end are not damage, because they were never
  ///   synced and are cut off.
  func row(of recording: String, isTorn: Bool, on disk: any Disk) throws(RecordingError)
    -> SegmentRow
  {
    var isDamaged = scan.isDamaged
    if scan.isChained {
      isDamaged =
        scan.goodBytes == 0 || scan.goodBytes < syncedBytes
        || (scan.goodBytes < segment.bytes && (!isTorn || scan.end != nil))
    } else if scan.goodBytes > 0, !isMisplaced {
      try cut(on: disk)
    }
    return try RecordingFiles.row(
      recording, segment.number, segment.file, scan.contents,
      chain: isMisplaced ? nil : scan.chain, previous: scan.header?.previous,
      isDamaged: isDamaged || isMisplaced, on: disk)
  }

  /// Cuts off everything after the last good line of an unclosed segment of version 1.
  private func cut(on disk: any Disk) throws(RecordingError) {
    guard scan.end == nil, scan.goodBytes < segment.bytes else { return }
    do throws(RecordingError) {
      _ = try OutputFile(cutting: segment.file, to: scan.goodBytes, on: disk)
    } catch .file(_, _, EROFS) {
      return
    }
  }
}
