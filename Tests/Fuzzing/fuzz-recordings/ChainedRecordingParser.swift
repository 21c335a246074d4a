import FuzzSupport

@testable import Recordings

/// Reads a recording of up to three segments after an ``Accident``. The input has the bytes of the
/// accident and then lines, see ``ChainedLines``. Zero bytes separate the segments.
final class ChainedRecordingParser: Parser {
  private var copies = EventCopies()

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      let written = ChainedSegments(
        bytes.dropFirst(Accident.size).separated(), FuzzedRecording.header)
      let segments = Accident(bytes.prefix(Accident.size)).befalling(written.segments)
      let before = try Self.read(written.segments)
      let after = try Self.read(segments)
      check("only written steps are read", after.isBeginning(of: before))
      check(
        "a reader reports missing or changed data",
        after.damage != nil || Self.isCut(written, to: segments))
      copies.check(after.steps)
    } catch {
      fatalError("a recording can be read: \(error)")
    }
  }

  private static func read(_ segments: [[UInt8]?]) throws(RecordingError) -> Reading {
    let directory = try SegmentDirectory(FuzzedRecording.directory, segments)
    return try Reading(directory.files(of: FuzzedRecording.name))
  }

  /// Whether only the end of the last segment is missing, which is undetectable until the segment
  /// is closed.
  private static func isCut(_ written: ChainedSegments, to found: [[UInt8]?]) -> Bool {
    let last = (found.last ?? nil) ?? []
    return written.mayEndEarly(found) && (written.segments.last ?? []).starts(with: last)
  }
}
