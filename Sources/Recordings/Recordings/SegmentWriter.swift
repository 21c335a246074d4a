import FileSystem
import RateLimiting

/// The contents of a segment, as stored in the catalogue.
struct SegmentContents: Equatable, Sendable {
  var events = 0
  var frames = 0
  /// The room's time at the first and the last step, in nanoseconds.
  var first: Int64?
  var last: Int64?

  /// The room's time from the first step to the last.
  var durationMilliseconds: Int {
    guard let first, let last else { return 0 }
    return max(0, Int(last.subtractingReportingOverflow(first).partialValue / 1_000_000))
  }

  mutating func count(_ instant: Instant, events: Int = 0, frames: Int = 0) {
    self.events += events
    self.frames += frames
    first = first ?? instant.nanoseconds
    last = instant.nanoseconds
  }

  /// Adds the contents of the next segment.
  mutating func append(_ next: SegmentContents) {
    events += next.events
    frames += next.frames
    first = first ?? next.first
    last = next.last ?? last
  }
}

/// Writes one segment: gathers lines, writes them in blocks, and syncs on request.
final class SegmentWriter {
  /// The number of bytes that are gathered before they are written.
  private static let blockSize = 1 << 20

  let number: Int
  /// The checksum at the end of the previous segment, as stated in the header.
  let previous: String?
  private var file: OutputFile
  // Checking the exclusivity of access to these three takes a seventh of the writer's time.
  @exclusivity(unchecked) private var gathered: [UInt8] = []
  /// The chain up to the last gathered line.
  @exclusivity(unchecked) private(set) var chain: LineChain
  @exclusivity(unchecked) private(set) var contents = SegmentContents()
  /// In a recording: the log sequence of the last batch.
  var sequence: Int?
  typealias State = (
    bytes: Int, chain: LineChain, contents: SegmentContents, sequence: Int?
  )
  /// The state after the last write, to which gathered lines are rolled back.
  private var written: State
  /// The state after the last sync. After a failure, the file is cut to this state.
  private(set) var synced: State
  /// The size of the file after its header or its last `segmentSynced` line: up to here, a recovery
  /// knows that everything was synced.
  private var marked: Int
  private var headerBytes: Int
  /// Whether anything after the header is synced.
  var hasSyncedLines: Bool { synced.bytes > headerBytes }
  /// The monotonic time at which the segment was created, in nanoseconds.
  let createdAt: UInt64

  /// - Parameter chain: the end of the previous segment.
  init(
    header: SegmentHeader, after chain: LineChain, path: String, now: UInt64, disk: any Disk
  ) throws(RecordingError) {
    (number, previous) = (header.segment, header.previous)
    createdAt = now
    file = try OutputFile(creating: path, on: disk)
    self.chain = chain.nextSegment
    sequence = header.sequence
    synced = (0, self.chain, contents, sequence)
    written = synced
    (marked, headerBytes) = (0, 0)
    gathered.reserveCapacity(Self.blockSize + (64 << 10))
    gather { SegmentLines.append(header, type: SegmentHeader.type, to: &$0) }
    (marked, headerBytes) = (gathered.count, gathered.count)
    do throws(RecordingError) {
      try sync()
    } catch {
      // A file without a header is not a segment.
      try? disk.remove(path)
      throw error
    }
  }

  /// The number of bytes written and gathered.
  var bytes: Int { file.count + gathered.count }

  /// Appends the lines of an entry.
  ///
  /// - Parameter copy: the segment of a recording that gathers the same lines, except for marks,
  ///   without writing them. Each line is therefore encoded once.
  func append(_ entry: RecordedBatch.Entry, copy: SegmentWriter?) throws(RecordingError) {
    switch entry {
    case .events(let events, let instant):
      for event in events {
        gather(copy) { SegmentLines.append(event, at: instant, to: &$0) }
        if gathered.count >= Self.blockSize { try write() }
      }
      count(instant, copy, events: events.count)
    case .frame(let instant, let flush):
      gather(copy) { SegmentLines.appendFrame(at: instant, flush: flush, to: &$0) }
      count(instant, copy, frames: 1)
    case .change(let text, let instant):
      gather(copy) { SegmentLines.appendChange(text, at: instant, to: &$0) }
      count(instant, copy)
    case .mark(let mark):
      gather { SegmentLines.appendChange(mark.text, at: .origin, to: &$0) }
    }
  }

  private func count(
    _ instant: Instant, _ copy: SegmentWriter?, events: Int = 0, frames: Int = 0
  ) {
    contents.count(instant, events: events, frames: frames)
    copy?.contents.count(instant, events: events, frames: frames)
  }

  /// Adds a line and its checksum to this segment and to `copy`.
  private func gather(_ copy: SegmentWriter? = nil, _ line: (inout [UInt8]) -> Void) {
    let start = gathered.count
    line(&gathered)
    if let copy {
      let copyStart = copy.gathered.count
      gathered.withUnsafeBufferPointer {
        copy.gathered.append(contentsOf: UnsafeBufferPointer(rebasing: $0[start...]))
      }
      copy.chain.close(&copy.gathered, from: copyStart)
    }
    chain.close(&gathered, from: start)
  }

  /// Writes everything gathered, so that it survives the end of this process.
  func write() throws(RecordingError) {
    guard !gathered.isEmpty else { return }
    do throws(RecordingError) {
      try file.write(gathered)
    } catch {
      gathered.removeAll()
      throw error
    }
    // Much memory is not kept: a recording may have gathered many more bytes than the log, and
    // there may be many recordings.
    gathered.removeAll(keepingCapacity: gathered.count <= 4 * Self.blockSize)
    written = (file.count, chain, contents, sequence)
  }

  /// The number of bytes that are not written yet.
  var gatheredBytes: Int { gathered.count }

  /// Drops all lines that are not written yet.
  func dropGathered() {
    gathered.removeAll()
    (chain, contents, sequence) = (written.chain, written.contents, written.sequence)
  }

  /// Syncs the segment, and appends a `segmentSynced` line. A recovery that finds this line knows
  /// that all lines before it must be present.
  ///
  /// The line itself is synced with the next lines, or written by the kernel some seconds later.
  func sync() throws(RecordingError) {
    try write()
    try file.sync()
    precondition(gathered.isEmpty, "a segmentSynced line covers only what was written and synced")
    synced = (file.count, chain, contents, sequence)
    guard file.count > marked else { return }
    gather { SegmentLines.appendSynced(sequence, to: &$0) }
    do throws(RecordingError) {
      try write()
    } catch {
      // All lines before it are synced. The next lines fail as well unless space becomes available.
      return try cutUnsynced()
    }
    marked = file.count
  }

  /// Cuts off everything that is not synced, after a failure.
  func cutUnsynced() throws(RecordingError) {
    gathered.removeAll()
    try file.truncate(to: synced.bytes)
    (chain, contents, sequence) = (synced.chain, synced.contents, synced.sequence)
    (written, marked) = (synced, 0)
  }

  /// Syncs the segment and gathers its last line, to which `complete` may add members.
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
