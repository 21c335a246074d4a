import FuzzSupport
import LiveEvents

@testable import Recordings

/// Recovers a recording of up to three segments after an ``Accident``, as the next start does. The
/// input has the bytes of the accident and then lines, see ``ChainedLines``. Zero bytes separate
/// the segments.
final class ChainedRecoveryParser: Parser {
  private let recovering: Recovering

  init() throws { recovering = try Recovering() }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      let written = ChainedSegments(
        bytes.dropFirst(Accident.size).separated(), FuzzedRecording.header)
      let segments = Accident(bytes.prefix(Accident.size)).befalling(written.segments)
      let directory = try SegmentDirectory(FuzzedRecording.directory, written.segments)
      let before = try Reading(directory.files(of: FuzzedRecording.name))
      let isSound = before.damage == nil
      let found = try recovering.recover(segments, isByRecorder: isSound)
      // There is no rule for a recording that no recorder could have written.
      guard isSound else { return }
      check("only written steps are recovered", found?.reading.isBeginning(of: before) ?? true)
      check(
        "no synced data is cut off",
        !Changes.cutSynced(segments, to: found?.segments ?? []))
      // The segment before an empty segment may still lack its last line.
      let isLastBare = (segments.last ?? nil).map(Changes.isBare) ?? false
      check(
        "a recovery reports missing or changed data",
        found?.summary.state == .damaged || written.mayEndEarly(segments) || isLastBare)
      let losses = UnsyncedLosses(written, segments)
      guard losses.areAll else { return }
      let synced = try Reading(directory.files(of: FuzzedRecording.name, upTo: written.syncedBytes))
      check(
        "all synced steps are recovered",
        found.map { synced.isBeginning(of: $0.reading) } ?? synced.steps.isEmpty)
      check(
        "a torn end does not count as damage", !losses.areTears || found?.summary.state != .damaged)
    } catch {
      fatalError("a recording can be recovered: \(error)")
    }
  }
}
