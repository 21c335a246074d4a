import CZlib
import FileSystem
import JSON
import LiveEvents
import WireFormats
import Wording

/// The contents of a segment, as far as its ``SegmentReader`` has read it.
struct SegmentScan {
  fileprivate(set) var header: SegmentHeader?
  fileprivate(set) var end: SegmentEnd?
  /// The last line that states a log sequence.
  fileprivate(set) var mark: SequenceMark?
  fileprivate(set) var contents = SegmentContents()
  /// The number of lines, good or bad, and of the steps in good lines.
  fileprivate(set) var (lines, stepCount) = (0, 0)
  /// The offset of the end of the last good line.
  fileprivate(set) var goodBytes = 0
  /// The offset up to which everything was synced, according to the last `segmentSynced` line. That
  /// line may be before or after the first bad line.
  fileprivate(set) var syncedBytes = 0
  /// For each of the first 100 invalid lines: the room it names, if it is a mark of the log that
  /// can be read.
  fileprivate(set) var roomsOfBadLines: [String?] = []
  /// Whether any damage was detected. Set at the end of the segment.
  fileprivate(set) var isDamaged = false
  /// Whether the file is new and its first line was never completely written. Set at the end of the
  /// segment.
  fileprivate(set) var isUnwritten = false
  /// The chain up to the last valid line; `nil` if the lines are not chained.
  fileprivate var newest: LineChain?
  /// The offset of the last line, and the chain before it.
  fileprivate var beforeEnd: (bytes: Int, chain: LineChain)?

  var isChained: Bool { newest != nil }
  /// The end of the chain; `nil` if the lines are not chained or none is valid.
  var chain: LineChain? { goodBytes > 0 ? newest : nil }
  /// Whether the file contains no line of this program.
  var isStrange: Bool { goodBytes == 0 && !isChained }
  /// Whether the last line states that another segment follows.
  var isContinued: Bool { isChained && end != nil && end?.state == nil }

  /// The same segment without its last line.
  var withoutEnd: SegmentScan {
    var scan = self
    guard let beforeEnd, end != nil else { return scan }
    (scan.end, scan.goodBytes, scan.newest) = (nil, beforeEnd.bytes, beforeEnd.chain)
    return scan
  }

  /// The damage, if ``isDamaged``.
  func damage(in segment: Int) -> Damage { Damage(segment: segment, lastGoodLine: chain?.number) }
}

/// A line of a recording that states the log sequence up to which the recording is complete.
struct SequenceMark {
  let sequence: Int
  /// The offset of the end of the line.
  let bytes: Int
  let chain: LineChain
  /// The contents of the segment before the line.
  let contents: SegmentContents
}

/// Reads and verifies one segment.
///
/// In a chained segment, the first invalid line ends the reading of steps. In a segment of version
/// 1, malformed lines are skipped, and only the checksum in the last line reveals other damage.
final class SegmentReader {
  /// The number of bytes read at a time. They contain about 200 events, which are decoded in a
  /// fraction of a millisecond.
  static let blockSize = 32 << 10
  /// The length of the longest line, in bytes: an event has at most 64 KiB, and each of its bytes
  /// may need an escape.
  static let longestLine = 512 << 10

  private let file: InputFile
  /// The number of bytes to read at most.
  private let limit: Int
  /// Whether events are decoded and all steps returned. Otherwise chained events are only counted,
  /// and only changes are returned.
  private let decodes: Bool
  /// The end of the previous segment, if it is known and chained.
  private let previous: LineChain?
  /// Decodes events; `nil` if they are only counted, since a decoder needs more memory than most
  /// segments.
  private var decoder: LineDecoder?
  private var rest: [UInt8] = []
  /// The checksum of a segment of version 1.
  private var checksum = Checksum()
  /// Whether a line has broken the chain.
  private var isBroken = false
  /// The contents that were read so far.
  private(set) var scan = SegmentScan()
  private(set) var bytesRead = 0
  private var offset = 0
  private var newSequence: Int?
  /// The number of lines that are not valid lines of a segment.
  private var badLines = 0
  /// Called with each valid line of a chained segment, without its last two members and its closing
  /// brace.
  var onLine: ((SegmentLines.Kind, UnsafeBufferPointer<UInt8>) -> Void)?

  /// - Parameters:
  ///   - limit: how many bytes are read at most. It excludes bytes that are written during the
  ///     reading.
  ///   - previous: the end of the previous segment, which this one must continue; `nil` if unknown.
  init(
    path: String, on disk: any Disk, limit: Int = .max, after previous: LineChain? = nil,
    decodes: Bool = true
  ) throws(RecordingError) {
    file = try InputFile(path, on: disk)
    self.limit = limit
    self.previous = previous
    self.decodes = decodes
  }

  /// Reads the rest of the segment, and calls `body` with the steps of each block.
  func readAll(
    _ body: ([RecordedStep]) throws(RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    var steps: [RecordedStep] = []
    while try read(into: &steps) {
      try body(steps)
      steps.removeAll(keepingCapacity: true)
    }
  }

  /// Reads a block and appends its steps. Returns `false` at the end of the segment. A last line
  /// without a line ending is ignored, because it was not completely written.
  func read(into steps: inout [RecordedStep]) throws(RecordingError) -> Bool {
    let size = min(Self.blockSize, limit - bytesRead)
    guard size > 0, let slab = try file.block(after: rest[...], size: size) else {
      complete()
      return false
    }
    bytesRead += slab.count - rest.count
    var position = 0
    while let line = slab.nextLine(at: &position) {
      let start = Int(line.offset)
      if add(slab, line, next: position, &steps) {
        scan.goodBytes = offset + position - start
        if let sequence = exchange(&newSequence, with: nil), let chain = scan.newest {
          scan.mark = SequenceMark(
            sequence: sequence, bytes: scan.goodBytes, chain: chain, contents: scan.contents)
        }
      } else {
        badLines += 1
      }
      scan.lines += 1
      offset += position - start
    }
    rest = slab.withBytes { Array($0[position...]) }
    if rest.count > Self.longestLine {
      // No line is this long. The bytes that follow must not be read as the beginning of a line.
      badLines += 1
      isBroken = true
      offset += rest.count
      rest = []
    }
    return true
  }

  /// Sets the properties that depend on the whole segment.
  private func complete() {
    if scan.isChained, !rest.isEmpty { rest.withUnsafeBufferPointer(findSyncedLine) }
    let isEndWrong =
      scan.end.map { end in
        end.events != scan.contents.events || end.frames != scan.contents.frames
          || !scan.isChained && end.crc32 != checksum.text
      } ?? false
    scan.isDamaged =
      badLines > 0 || scan.header == nil || isEndWrong || scan.isChained && !rest.isEmpty
    scan.isUnwritten =
      scan.lines == 0
      && (rest.allSatisfy { $0 == 0 }
        || rest.withUnsafeBufferPointer { SegmentLines.mayBegin(with: $0) })
  }

  /// Adds a line to the scan. Returns whether it is valid.
  private func add(
    _ slab: ByteSlab, _ line: ByteSlab.Slice, next: Int, _ steps: inout [RecordedStep]
  ) -> Bool {
    // Includes all bytes before the line ending: nothing may follow a chained line.
    let whole = ByteSlab.Slice(offset: Int(line.offset), count: next - 1 - Int(line.offset))
    if scan.lines == 0 {
      let isChained = slab.withBytes(of: whole) { LineChain.isChained($0) }
      if isChained
        || decode(SegmentHeader.self, slab, line)?.version ?? 0 >= SegmentHeader.chained
      {
        scan.newest = LineChain()
      }
      if decodes || !scan.isChained {
        decoder = LineDecoder(ofOwnLinesUpTo: SegmentReader.longestLine)
      }
    }
    guard scan.isChained else { return addUnchained(slab, line, next: next, &steps) }
    return slab.withBytes(of: whole) { bytes in
      guard !isBroken, scan.end == nil, var next = scan.newest,
        let body = next.advance(bytes, isFirst: scan.lines == 0),
        case let kind = SegmentLines.kind(of: body), add(kind, slab, line, &steps)
      else {
        isBroken = true
        findSyncedLine(in: bytes)
        return false
      }
      scan.newest = next
      onLine?(kind, body)
      return true
    }
  }

  /// Looks for a `segmentSynced` line in an invalid line, which may consist of two lines whose
  /// middle was lost.
  ///
  /// No other line can contain its text. It was only written after everything before it was synced.
  private func findSyncedLine(in bytes: UnsafeBufferPointer<UInt8>) {
    if scan.roomsOfBadLines.count < 100 {
      scan.roomsOfBadLines.append(SegmentLines.room(in: bytes))
    }
    if let mark = SegmentLines.lastSyncedLine(in: bytes) { scan.syncedBytes = offset + mark }
  }

  private func addUnchained(
    _ slab: ByteSlab, _ line: ByteSlab.Slice, next: Int, _ steps: inout [RecordedStep]
  ) -> Bool {
    let kind = slab.withBytes(of: line) { bytes in
      bytes.last == UInt8(ascii: "}")
        ? SegmentLines.kind(of: UnsafeBufferPointer(rebasing: bytes.dropLast())) : .unknown
    }
    let isGood = add(kind, slab, line, &steps)
    if case .end = kind { return isGood }
    slab.withBytes { checksum.add(UnsafeBufferPointer(rebasing: $0[Int(line.offset)..<next])) }
    return isGood
  }

  private func add(
    _ kind: SegmentLines.Kind, _ slab: ByteSlab, _ line: ByteSlab.Slice,
    _ steps: inout [RecordedStep]
  ) -> Bool {
    switch kind {
    case .event(let instant):
      if decodes || !scan.isChained {
        guard case .event(let event, _)? = decoder?.decode(slab, line: line, arrival: 0) else {
          return false
        }
        if decodes { steps.append(.event(event, at: instant)) }
      }
      scan.contents.count(instant, events: 1)
    case .frame(let instant, let flush):
      scan.contents.count(instant, frames: 1)
      if decodes { steps.append(.frame(at: instant, flush: flush)) }
    case .change(let text, let instant):
      scan.contents.count(instant)
      steps.append(.change(text, at: instant))
    case .header:
      // A second header would hide that the first one names another place.
      guard scan.lines == 0, let header = decode(SegmentHeader.self, slab, line),
        EventLimits.total.contains(header.startedAt),
        EventLimits.total.contains(header.sequence ?? 0)
      else { return false }
      scan.header = header
      newSequence = header.sequence
      return previous == nil || LineChain.leads(previous, to: header.previous)
    case .end:
      // It must be the last line, and its counts cover all lines before it.
      scan.end = decode(SegmentEnd.self, slab, line)
      scan.beforeEnd = scan.newest.map { (scan.goodBytes, $0) }
      return scan.end != nil
    case .synced(let sequence):
      scan.syncedBytes = offset
      newSequence = sequence
      return true
    case .unknown: return false
    }
    scan.stepCount += 1
    return true
  }

  private func decode<Line: Decodable>(
    _ type: Line.Type, _ slab: ByteSlab, _ line: ByteSlab.Slice
  ) -> Line? {
    slab.withBytes(of: line) { bytes in
      try? JSONValue(parsing: bytes).decode(type)
    }
  }
}

/// The CRC-32 in the last line of segments of version 1.
private struct Checksum {
  private var value: UInt = 0

  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    value = crc32_z(value, bytes.baseAddress, bytes.count)
  }

  /// The checksum as eight hexadecimal digits.
  var text: String { Format.padded(value, 8, radix: 16) }
}

extension SegmentReader {
  /// Reads a segment to its end and returns its contents.
  ///
  /// - Parameter onRead: called with the size of each block in bytes.
  static func scan(
    path: String, on disk: any Disk, onRead: (Int) -> Void = { _ in }
  ) throws(RecordingError) -> SegmentScan {
    let reader = try SegmentReader(path: path, on: disk, decodes: false)
    var bytes = 0
    try reader.readAll { _ throws(RecordingError) in
      onRead(reader.bytesRead - bytes)
      bytes = reader.bytesRead
    }
    return reader.scan
  }
}
