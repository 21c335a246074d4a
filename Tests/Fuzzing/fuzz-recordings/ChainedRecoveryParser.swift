import FuzzSupport
import LiveEvents

@testable import Recordings

/// A recording of up to three segments, recovered after an ``Accident`` as at the next start. Behind the bytes that
/// choose the accident come lines, see ``ChainedLines``; zero bytes separate the segments.
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
      // A recording that no recorder writes may be read as far as anybody likes.
      guard isSound else { return }
      check("what is recovered was written", found?.reading.isBeginning(of: before) ?? true)
      check(
        "nothing is cut off that is known to have been synced",
        !Changes.cutSynced(segments, to: found?.segments ?? []))
      // The one before a segment to which nothing was written may still lack its last line.
      let isLastBare = (segments.last ?? nil).map(Changes.isBare) ?? false
      check(
        "a recovery tells that something is missing or changed",
        found?.summary.state == .damaged || written.mayEndEarly(segments) || isLastBare)
      let losses = UnsyncedLosses(written, segments)
      guard losses.areAll else { return }
      let synced = try Reading(directory.files(of: FuzzedRecording.name, upTo: written.syncedBytes))
      check(
        "what was synced is recovered",
        found.map { synced.isBeginning(of: $0.reading) } ?? synced.steps.isEmpty)
      check("what was torn is not damaged", !losses.areTears || found?.summary.state != .damaged)
    } catch {
      fatalError("a recording is recovered: \(error)")
    }
  }
}
