package import RateLimiting
import WireFormats

/// Reads the steps of a recording in order, block by block, and checks each segment along the way.
package struct RecordingReader: ~Copyable {
  private let files: RecordingFiles
  private var next: Int
  private var segment: SegmentReader?
  private var decoder = LineDecoder(maximumLineLength: SegmentReader.longestLine)
  private let start: Instant?
  /// The part of `files.bytes` in segments that have been read or skipped.
  private var bytesBefore = 0

  /// - Parameter start: steps before this room time are left out, and segments that end before it
  ///   are not read; `nil` reads everything.
  package init(_ files: RecordingFiles, from start: Instant? = nil) {
    self.files = files
    self.start = start
    next = 0
    guard let start else { return }
    while next + 1 < files.segments.count,
      let last = files.segments[next].last, last < start.nanoseconds
    {
      bytesBefore += files.segments[next].bytes
      next += 1
    }
  }

  /// How many bytes have been read or skipped; at the end, the size of the recording.
  package var bytesRead: Int { bytesBefore + (segment?.bytesRead ?? 0) }

  /// Adds the steps of the next block to `steps`; `false` at the end. A block may have none.
  ///
  /// - Throws: ``RecordingError/damaged(recording:segment:)`` at the end of a segment that differs
  ///   from what was written. Everything readable in it has been returned by then; reading can
  ///   continue with the next segment.
  /// - Complexity: O(size of a block), about 0.1 ms.
  package mutating func read(into steps: inout [RecordedStep]) throws(RecordingError) -> Bool {
    if segment == nil {
      guard next < files.segments.count else { return false }
      segment = try SegmentReader(
        path: files.segments[next].path, limit: files.segments[next].bytes)
      next += 1
    }
    let count = steps.count
    if try segment?.read(&decoder, into: &steps) == true {
      if let start, steps.count > count, steps[count].instant < start {
        let tail = steps[count...].drop { $0.instant < start }
        steps.removeSubrange(count..<tail.startIndex)
      }
      return true
    }
    let isDamaged = segment?.isDamaged ?? false
    bytesBefore += segment?.bytesRead ?? 0
    segment = nil
    if isDamaged {
      throw .damaged(recording: files.name, segment: files.segments[next - 1].number)
    }
    return true
  }
}
