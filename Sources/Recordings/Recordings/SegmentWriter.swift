import FileSystem
import RateLimiting

/// The contents of a segment as the catalogue describes them.
struct SegmentContents: Equatable, Sendable {
  var events = 0
  var frames = 0
  /// The room's time at the first and at the last step, in nanoseconds.
  var first: Int64?
  var last: Int64?

  /// How much of the room's time there is from the first step to the last.
  var durationMilliseconds: Int {
    guard let first, let last else { return 0 }
    return max(0, Int(last.subtractingReportingOverflow(first).partialValue / 1_000_000))
  }

  mutating func note(_ instant: Instant, events: Int = 0, frames: Int = 0) {
    self.events += events
    self.frames += frames
    first = first ?? instant.nanoseconds
    last = instant.nanoseconds
  }

  /// Adds the contents of the segment that follows.
  mutating func append(_ next: SegmentContents) {
    events += next.events
    frames += next.frames
    first = first ?? next.first
    last = next.last ?? last
  }
}

/// Writes one segment: gathers lines, writes them in blocks, and syncs them on request.
final class SegmentWriter {
  /// How many bytes are gathered before they are written.
  private static let blockSize = 1 << 20

  let number: Int
  /// What the header says about the end of the segment before.
  let previous: String?
  private var file: OutputFile
  private var gathered: [UInt8] = []
  /// The chain up to the last line gathered.
  private(set) var chain: LineChain
  private(set) var contents = SegmentContents()
  /// In a recording: the log sequence of the last batch.
  var sequence: Int?
  /// What is synced; the file is cut to this if more cannot be written.
  private(set) var synced: (bytes: Int, chain: LineChain, contents: SegmentContents, sequence: Int?)
  /// The size of the file when all of it was known to be synced, by its header or its last mark.
  private var marked: Int
  private var headerBytes: Int
  /// Whether more than the header is synced.
  var hasSyncedLines: Bool { synced.bytes > headerBytes }
  /// The monotonic time at which the segment was created, in nanoseconds.
  let createdAt: UInt64

  /// - Parameter chain: the end of the segment before.
  init(
    header: SegmentHeader, after chain: LineChain, path: String, now: UInt64, disk: any Disk
  ) throws(RecordingError) {
    (number, previous) = (header.segment, header.previous)
    createdAt = now
    file = try OutputFile(creating: path, on: disk)
    self.chain = chain.nextSegment
    sequence = header.sequence
    synced = (0, self.chain, contents, sequence)
    (marked, headerBytes) = (0, 0)
    gathered.reserveCapacity(Self.blockSize + (64 << 10))
    gather { SegmentLines.append(header, type: SegmentHeader.type, to: &$0) }
    (marked, headerBytes) = (gathered.count, gathered.count)
    do throws(RecordingError) {
      try sync()
    } catch {
      // Without its first line the file is not a segment.
      try? disk.remove(path)
      throw error
    }
  }

  /// The number of bytes written and gathered.
  var bytes: Int { file.count + gathered.count }

  /// - Parameter copy: receives the lines, except for marks.
  func append(_ entry: RecordedBatch.Entry, copy: EncodedLines?) throws(RecordingError) {
    switch entry {
    case .events(let events, let instant):
      for event in events {
        let line = gather { SegmentLines.append(event, at: instant, to: &$0) }
        copy?.append(gathered[line], at: instant, events: 1)
        if gathered.count >= Self.blockSize { try write() }
      }
      contents.note(instant, events: events.count)
    case .frame(let instant, let flush):
      let line = gather { SegmentLines.appendFrame(at: instant, flush: flush, to: &$0) }
      copy?.append(gathered[line], at: instant, frames: 1)
      contents.note(instant, frames: 1)
    case .change(let text, let instant):
      let line = gather { SegmentLines.appendChange(text, at: instant, to: &$0) }
      copy?.append(gathered[line], at: instant)
      contents.note(instant)
    case .mark(let mark):
      gather { SegmentLines.appendChange(mark.text, at: .origin, to: &$0) }
    }
  }

  /// Appends lines that were encoded for the log.
  func append(_ lines: EncodedLines) throws(RecordingError) {
    var start = 0
    for end in lines.ends {
      gather { $0.append(contentsOf: lines.bytes[start..<end]) }
      start = end
      if gathered.count >= Self.blockSize { try write() }
    }
    contents.append(lines.contents)
  }

  /// Returns the range of the line, without the members that chain it.
  @discardableResult
  private func gather(_ line: (inout [UInt8]) -> Void) -> Range<Int> {
    let start = gathered.count
    line(&gathered)
    let end = gathered.count
    chain.close(&gathered, from: start)
    return start..<end
  }

  /// Hands everything gathered to the kernel, so that it survives the end of this process.
  func write() throws(RecordingError) {
    guard !gathered.isEmpty else { return }
    do throws(RecordingError) {
      try file.write(gathered)
    } catch {
      gathered.removeAll()
      throw error
    }
    gathered.removeAll(keepingCapacity: true)
  }

  /// Makes the whole segment survive a power failure, and marks it: a recovery that finds the mark
  /// knows that no line before it may be missing.
  ///
  /// The mark itself gets to the disk with the next lines, or when the kernel writes it some
  /// seconds later.
  func sync() throws(RecordingError) {
    try write()
    try file.sync()
    synced = (file.count, chain, contents, sequence)
    guard file.count > marked else { return }
    gather { SegmentLines.appendSyncedMark(sequence, to: &$0) }
    do throws(RecordingError) {
      try write()
    } catch {
      // All lines are safe. The next ones will fail, too, unless there is space again.
      return try cutUnsynced()
    }
    marked = file.count
  }

  /// Removes everything that is not synced, after a failure.
  func cutUnsynced() throws(RecordingError) {
    gathered.removeAll()
    try file.truncate(to: synced.bytes)
    (chain, contents, sequence) = (synced.chain, synced.contents, synced.sequence)
    marked = 0
  }

  /// Gathers the last line, to which `complete` may add members, after everything before it is
  /// synced.
  func seal(_ complete: (inout SegmentEnd) -> Void) throws(RecordingError) {
    try sync()
    var end = SegmentEnd(events: contents.events, frames: contents.frames)
    complete(&end)
    gather { SegmentLines.append(end, type: SegmentEnd.type, to: &$0) }
  }

  /// Writes and syncs the last line. Returns the size of the file.
  func finish() throws(RecordingError) -> Int {
    try write()
    try file.sync()
    return file.count
  }
}
