package import RateLimiting
import WireFormats

/// Reads the steps of a recording in order, block by block, and checks each segment along the way.
package struct RecordingReader: ~Copyable {
  private let files: RecordingFiles
  private var next: Int
  private var segment: SegmentReader?
  private var decoder = LineDecoder(ofOwnLinesUpTo: SegmentReader.longestLine)
  private let start: Instant?
  private let decodes: Bool
  /// The end of the segment before the next one, if it was read and its lines are chained.
  private var previous: LineChain?
  /// The part of `files.bytes` in segments that have been read or skipped.
  private var bytesBefore = 0
  /// How many segments there should be.
  private let count: Int

  /// - Parameter start: steps before this room time are left out, and segments that end before it
  ///   are not read; `nil` reads everything.
  package init(_ files: RecordingFiles, from start: Instant? = nil) {
    self.init(files, from: start, decodes: true)
  }

  /// - Parameter decodes: without it, only changes are returned, and the files are only checked.
  init(_ files: RecordingFiles, from start: Instant? = nil, decodes: Bool) {
    self.files = files
    self.start = start
    self.decodes = decodes
    next = 0
    count = max(files.segments.count, files.lastNumber)
    guard let start else { return }
    while next + 1 < files.segments.count,
      let last = files.segments[next].last, last < start.nanoseconds
    {
      bytesBefore += files.segments[next].bytes
      next += 1
    }
  }

  /// The segments that have been read to their end, and what is in them.
  private(set) var segments: [(file: RecordingFiles.Segment, scan: SegmentScan)] = []
  /// The lines and steps in segments that have been read to their end.
  private(set) var (linesBefore, stepsBefore) = (0, 0)

  /// How many bytes have been read or skipped; at the end, the size of the recording.
  package var bytesRead: Int { bytesBefore + (segment?.bytesRead ?? 0) }

  /// Adds the steps of the next block to `steps`; `false` at the end. A block may have none.
  ///
  /// - Throws: ``RecordingError/damaged(recording:_:)`` at the end of a segment that differs from
  ///   what was written. Everything readable has been returned by then, and nothing follows: what
  ///   is behind it would not lead to the state that the room had.
  /// - Complexity: O(size of a block), about 0.1 ms.
  package mutating func read(into steps: inout [RecordedStep]) throws(RecordingError) -> Bool {
    if segment == nil {
      guard next < count else { return false }
      guard next < files.segments.count, files.segments[next].number == next + 1 else {
        throw end(with: Damage(segment: next + 1, .missing))
      }
      segment = try SegmentReader(
        path: files.segments[next].path, on: files.disk, limit: files.segments[next].bytes,
        after: previous, decodes: decodes)
      next += 1
    }
    let known = steps.count
    if try segment?.read(&decoder, into: &steps) == true {
      if let damage = misplacement {
        steps.removeSubrange(known...)
        throw end(with: damage)
      }
      if let start, steps.count > known, steps[known].instant < start {
        let tail = steps[known...].drop { $0.instant < start }
        steps.removeSubrange(known..<tail.startIndex)
      }
      return true
    }
    guard let read = exchange(&segment, with: nil) else { return true }
    bytesBefore += read.bytesRead
    (linesBefore, stepsBefore) = (linesBefore + read.lines, stepsBefore + read.stepCount)
    previous = read.chain
    let file = files.segments[next - 1]
    let scan = read.scan
    if !file.isListed, scan.isStrange {
      // As if it was not there.
      guard next == count, segments.last?.scan.isContinued != true else {
        throw end(with: Damage(segment: file.number, .missing))
      }
      return true
    }
    if read.isDamaged || file.isShortened { throw end(with: read.damage(in: file.number)) }
    // Segments of the log are read one by one.
    if next == files.lastNumber, scan.isContinued {
      throw end(with: Damage(segment: file.number + 1, .missing))
    }
    segments.append((file, scan))
    return true
  }

  /// What is wrong if the present segment is a file of another recording, or of another place in
  /// this one.
  private var misplacement: Damage? {
    let file = files.segments[next - 1]
    guard !file.isExamined, let header = segment?.header else { return nil }
    if header.name != files.name { return Damage(segment: file.number, .foreign(header.name)) }
    return header.segment == file.number ? nil : Damage(segment: file.number)
  }

  private mutating func end(with damage: Damage) -> RecordingError {
    (segment, next) = (nil, count)
    return .damaged(recording: files.name, damage)
  }
}
