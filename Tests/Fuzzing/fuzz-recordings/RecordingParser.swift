import FuzzSupport

@testable import Recordings

/// Reads the bytes of a segment of a recording without adding checksums.
final class RecordingParser: Parser {
  private var copies = EventCopies()

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      let directory = try SegmentDirectory(FuzzedRecording.directory, [Array(bytes)])
      let reading = try Reading(directory.files(of: FuzzedRecording.name))
      check(
        "the number of steps does not exceed the number of bytes",
        reading.steps.count <= bytes.count)
      copies.check(reading.steps)
    } catch {
      fatalError("a segment can be read: \(error)")
    }
  }
}
