import FuzzSupport

@testable import Recordings

/// A segment of a recording, byte by byte.
final class RecordingParser: Parser {
  private var copies = EventCopies()

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      let directory = try SegmentDirectory(FuzzedRecording.directory, [Array(bytes)])
      let reading = try Reading(directory.files(of: FuzzedRecording.name))
      check("a step takes at least a line", reading.steps.count <= bytes.count)
      copies.check(reading.steps)
    } catch {
      fatalError("a segment is read: \(error)")
    }
  }
}
