import CZlib
import Glibc
import RateLimiting
import Wording

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
    return Int(last.subtractingReportingOverflow(first).partialValue / 1_000_000)
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
  private var file: OutputFile
  private var gathered: [UInt8] = []
  private var checksum = Checksum()
  private(set) var contents = SegmentContents()
  /// What is synced; the file is cut to this if more cannot be written.
  private(set) var synced: (bytes: Int, checksum: Checksum, contents: SegmentContents)
  /// The monotonic time at which the segment was created, in nanoseconds.
  let createdAt: UInt64

  init(
    header: SegmentHeader, path: String, now: UInt64, disk: Disk
  ) throws(RecordingError) {
    number = header.segment
    createdAt = now
    file = try OutputFile(creating: path, on: disk)
    synced = (0, checksum, contents)
    gathered.reserveCapacity(Self.blockSize + (64 << 10))
    SegmentLines.append(header, type: SegmentHeader.type, to: &gathered)
    do throws(RecordingError) {
      try sync()
    } catch {
      // Without its first line the file is not a segment.
      unlink(path)
      throw error
    }
  }

  /// The number of bytes written and gathered.
  var bytes: Int { file.count + gathered.count }

  func append(_ entry: RecordedBatch.Entry) throws(RecordingError) {
    switch entry {
    case .events(let events, let instant):
      for event in events {
        SegmentLines.append(event, at: instant, to: &gathered)
        if gathered.count >= Self.blockSize { try write() }
      }
      contents.note(instant, events: events.count)
    case .frame(let instant, let flush):
      SegmentLines.appendFrame(at: instant, flush: flush, to: &gathered)
      contents.note(instant, frames: 1)
    case .change(let text, let instant):
      SegmentLines.appendChange(text, at: instant, to: &gathered)
      contents.note(instant)
    }
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
    gathered.withUnsafeBufferPointer { checksum.add($0) }
    gathered.removeAll(keepingCapacity: true)
  }

  /// Makes the whole segment survive a power failure.
  func sync() throws(RecordingError) {
    try write()
    try file.sync()
    synced = (file.count, checksum, contents)
  }

  /// Removes everything that is not synced, after a failure.
  func cutUnsynced() throws(RecordingError) {
    gathered.removeAll()
    try file.truncate(to: synced.bytes)
    checksum = synced.checksum
    contents = synced.contents
  }

  /// Writes the last line, to which `complete` may add members.
  func finish(
    _ complete: (inout SegmentEnd) -> Void
  ) throws(RecordingError) -> (bytes: Int, crc32: String) {
    try write()
    var end = SegmentEnd(events: contents.events, frames: contents.frames, crc32: checksum.text)
    complete(&end)
    SegmentLines.append(end, type: SegmentEnd.type, to: &gathered)
    try sync()
    return (file.count, end.crc32)
  }
}

/// The CRC-32 of a growing sequence of bytes.
struct Checksum {
  private var value: UInt = 0

  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    value = crc32_z(value, bytes.baseAddress, bytes.count)
  }

  /// The checksum as eight hexadecimal digits.
  var text: String { Format.padded(value, 8, radix: 16) }
}
