package import RateLimiting

/// Reads the steps of a recording in order, block by block, and verifies each segment.
package struct RecordingReader: ~Copyable {
  private let files: RecordingFiles
  private var next: Int
  private var segment: SegmentReader?
  private let start: Instant?
  private let decodes: Bool
  /// The end of the previous segment; `nil` if that segment was not read or has no chain.
  private var previous: LineChain?
  /// The size of the segments that were read or skipped.
  private var bytesBefore = 0
  /// The expected number of segments.
  private let count: Int

  /// - Parameter start: steps before this time of the room are left out, and segments that end
  ///   before it are skipped; `nil` reads everything.
  package init(_ files: RecordingFiles, from start: Instant? = nil) {
    self.init(files, from: start, decodes: true)
  }

  /// - Parameter decodes: `false` verifies the files, and returns only changes.
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

  /// The segments that were read to their end, and their contents.
  private(set) var segments: [(file: RecordingFiles.Segment, scan: SegmentScan)] = []
  /// The numbers of lines and steps in the segments that were read to their end.
  private(set) var (linesBefore, stepsBefore) = (0, 0)

  /// The number of bytes read or skipped; at the end, the size of the recording.
  package var bytesRead: Int { bytesBefore + (segment?.bytesRead ?? 0) }

  /// Appends the steps of the next block, possibly none. Returns `false` at the end.
  ///
  /// - Throws: ``RecordingError/damaged(recording:_:)`` at the end of a damaged segment. Everything
  ///   readable was returned before. Later segments are not read: replaying them would not
  ///   reproduce the state of the room.
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
    if try segment?.read(into: &steps) == true {
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
    let (file, scan) = (files.segments[next - 1], read.scan)
    (linesBefore, stepsBefore) = (linesBefore + scan.lines, stepsBefore + scan.stepCount)
    previous = scan.chain
    if !file.isListed, scan.isStrange {
      // The file is ignored.
      guard next == count, segments.last?.scan.isContinued != true else {
        throw end(with: Damage(segment: file.number, .missing))
      }
      return true
    }
    if scan.isDamaged || file.isShortened { throw end(with: scan.damage(in: file.number)) }
    // Segments of the log are read one at a time: their `lastNumber` is 0.
    if next == files.lastNumber, scan.isContinued {
      throw end(with: Damage(segment: file.number + 1, .missing))
    }
    segments.append((file, scan))
    return true
  }

  /// The damage, if the current segment belongs to another recording or to another place in this
  /// one.
  private var misplacement: Damage? {
    let file = files.segments[next - 1]
    guard !file.isExamined, let header = segment?.scan.header else { return nil }
    if header.name != files.name { return Damage(segment: file.number, .foreign(header.name)) }
    return header.segment == file.number ? nil : Damage(segment: file.number)
  }

  private mutating func end(with damage: Damage) -> RecordingError {
    (segment, next) = (nil, count)
    return .damaged(recording: files.name, damage)
  }
}
