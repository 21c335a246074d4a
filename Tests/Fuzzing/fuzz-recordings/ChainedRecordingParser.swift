import FuzzSupport

@testable import Recordings

/// A recording of up to three segments, read after an ``Accident``. Behind the bytes that choose the accident come
/// lines, see ``ChainedLines``; zero bytes separate the segments.
final class ChainedRecordingParser: Parser {
  private var copies = EventCopies()

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      let written = ChainedSegments(
        bytes.dropFirst(Accident.size).separated(), FuzzedRecording.header)
      let segments = Accident(bytes.prefix(Accident.size)).befalling(written.segments)
      let before = try Self.read(written.segments)
      let after = try Self.read(segments)
      check("what is read was written", after.isBeginning(of: before))
      check(
        "a reader tells that something is missing or changed",
        after.damage != nil || Self.isCut(written, to: segments))
      copies.check(after.steps)
    } catch {
      fatalError("a recording is read: \(error)")
    }
  }

  private static func read(_ segments: [[UInt8]?]) throws(RecordingError) -> Reading {
    let directory = try SegmentDirectory(FuzzedRecording.directory, segments)
    return try Reading(directory.files(of: FuzzedRecording.name))
  }

  /// Whether nothing but the end of the last segment is gone, which nothing can tell before it is closed.
  private static func isCut(_ written: ChainedSegments, to found: [[UInt8]?]) -> Bool {
    let last = (found.last ?? nil) ?? []
    return written.mayEndEarly(found) && (written.segments.last ?? []).starts(with: last)
  }
}
