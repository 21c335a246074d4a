/// Reads a whole recording to learn whether it is as it was written.
package struct RecordingCheck: ~Copyable {
  private var reader: RecordingReader
  private var steps: [RecordedStep] = []
  /// What is wrong; `nil` as long as nothing is.
  package private(set) var damage: Damage?

  package init(_ files: RecordingFiles) { reader = RecordingReader(files, decodes: false) }

  /// How many bytes have been read.
  package var bytesRead: Int { reader.bytesRead }

  /// How many lines have been read up to the end of the last segment that was read, damaged ones
  /// included.
  package var lines: Int { reader.linesBefore }

  /// How many events, frames and changes are in the lines that are as they were written.
  package var records: Int { reader.stepsBefore }

  /// What is in a recording that was read to its end, and is as it was written.
  package struct Whole: Sendable {
    let segments: [(file: RecordingFiles.Segment, scan: SegmentScan)]
  }

  /// At the end, if there is no damage.
  package var whole: Whole? { damage == nil ? Whole(segments: reader.segments) : nil }

  /// Reads the next block; `false` at the end, which is behind the first damaged segment.
  ///
  /// - Throws: if a file cannot be read.
  /// - Complexity: O(size of a block), far below 0.1 ms.
  package mutating func next() throws(RecordingError) -> Bool {
    steps.removeAll(keepingCapacity: true)
    do throws(RecordingError) {
      return try reader.read(into: &steps)
    } catch .damaged(_, let found) {
      damage = found
      return false
    }
  }
}
