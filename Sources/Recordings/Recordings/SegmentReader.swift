import CZlib
import FileSystem
import JSON
import LiveEvents
import WireFormats
import Wording

/// Reads one segment from its beginning and checks it along the way.
///
/// Of a segment whose lines are chained, nothing behind the first line that is not valid is taken.
/// In one of version 1, malformed lines are skipped, and only the last line shows whether anything
/// else is wrong.
final class SegmentReader {
  /// Bytes read at a time: about two hundred events, which take a fraction of a millisecond to
  /// decode.
  static let blockSize = 32 << 10
  /// The longest line that can be written: an event's line is at most 64 KiB long, and every byte
  /// of it may have to be escaped.
  static let longestLine = 512 << 10

  private let file: InputFile
  /// How many bytes of the file to read.
  private let limit: Int
  /// Whether events are decoded and steps returned; otherwise chained events are only counted, and
  /// of all steps only changes are returned.
  private let decodes: Bool
  /// The end of the segment before, if it is known and chained.
  private let previous: LineChain?
  private var rest: [UInt8] = []
  /// The checksum of a segment of version 1.
  private var checksum = Checksum()
  /// The chain up to the last valid line; `nil` if the lines are not chained.
  private(set) var chain: LineChain?
  /// Whether a line did not continue the chain.
  private var isBroken = false
  private(set) var contents = SegmentContents()
  private(set) var header: SegmentHeader?
  private(set) var end: SegmentEnd?
  /// The last line that states the log sequence reached.
  private(set) var mark: SequenceMark?
  private var newSequence: Int?
  /// Called with each valid line of a chained segment, without the members that chain it.
  var onLine: ((SegmentLines.Kind, UnsafeBufferPointer<UInt8>) -> Void)?
  /// Where the last line begins, and the chain up to there.
  private var beforeEnd: (bytes: Int, chain: LineChain)?
  /// Lines that have been read, good or bad, and the steps in the good ones.
  private(set) var lines = 0
  private(set) var stepCount = 0
  /// Lines that do not belong in a recording.
  private var badLines = 0
  /// The offset at which the last good line ends.
  private(set) var goodBytes = 0
  /// Everything before this offset was synced, as the last mark says, be it before or behind the
  /// first bad line.
  private(set) var syncedBytes = 0
  private(set) var bytesRead = 0
  /// Of the first lines that are not valid, the room that a mark of the log names, as far as that
  /// can be read.
  private(set) var roomsOfBadLines: [String?] = []
  private var offset = 0

  /// - Parameters:
  ///   - limit: at most this many bytes are read, so that a reader does not run into what is being
  ///     written
  ///     meanwhile.
  ///   - previous: the end of the segment before, which this one must continue; `nil` if it is not
  ///     known.
  init(
    path: String, on disk: any Disk, limit: Int = .max, after previous: LineChain? = nil,
    decodes: Bool = true
  ) throws(RecordingError) {
    file = try InputFile(path, on: disk)
    self.limit = limit
    self.previous = previous
    self.decodes = decodes
  }

  /// Whether what has been read differs from what was written, as far as can be told.
  var isDamaged: Bool {
    badLines > 0 || header == nil || (end.map { !agrees($0) } ?? false)
      || (chain != nil && !rest.isEmpty)
  }

  /// The damage, if ``isDamaged``.
  func damage(in segment: Int) -> Damage {
    Damage(segment: segment, lastGoodLine: goodBytes > 0 ? chain?.number : nil)
  }

  private func agrees(_ end: SegmentEnd) -> Bool {
    end.events == contents.events && end.frames == contents.frames
      && (chain != nil || end.crc32 == checksum.text)
  }

  /// Whether a file without a single whole line is a segment of which not even the first line was
  /// written.
  var isUnwritten: Bool {
    lines == 0
      && (rest.allSatisfy { $0 == 0 }
        || rest.withUnsafeBufferPointer { SegmentLines.mayBegin(with: $0) })
  }

  /// Reads a block and adds its steps. Returns `false` at the end. Bytes after the last line ending
  /// are left out: their line was never finished.
  func read(
    _ decoder: inout LineDecoder, into steps: inout [RecordedStep]
  ) throws(RecordingError) -> Bool {
    let size = min(Self.blockSize, limit - bytesRead)
    guard size > 0, let slab = try file.block(after: rest[...], size: size) else {
      if chain != nil, !rest.isEmpty { rest.withUnsafeBufferPointer(noteMark) }
      return false
    }
    bytesRead += slab.count - rest.count
    var position = 0
    while let line = slab.nextLine(at: &position) {
      let start = Int(line.offset)
      if take(slab, line, next: position, &decoder, &steps) {
        goodBytes = offset + position - start
        if let sequence = exchange(&newSequence, with: nil), let chain {
          mark = SequenceMark(
            sequence: sequence, bytes: goodBytes, chain: chain, contents: contents)
        }
      } else {
        badLines += 1
      }
      lines += 1
      offset += position - start
    }
    rest = slab.withBytes { Array($0[position...]) }
    if rest.count > Self.longestLine {
      // Not one of our lines; what follows must not be read as the beginning of another.
      badLines += 1
      isBroken = true
      offset += rest.count
      rest = []
    }
    return true
  }

  /// Takes a line; `false` if it is a bad one.
  private func take(
    _ slab: ByteSlab, _ line: ByteSlab.Slice, next: Int, _ decoder: inout LineDecoder,
    _ steps: inout [RecordedStep]
  ) -> Bool {
    // All bytes up to the line ending: nothing may be added to a chained line, either.
    let whole = ByteSlab.Slice(offset: Int(line.offset), count: next - 1 - Int(line.offset))
    if lines == 0 {
      let isChained = slab.withBytes(of: whole) { LineChain.isChained($0) }
      let version = decode(SegmentHeader.self, slab, line)?.version ?? 0
      if isChained || version >= SegmentHeader.chained { chain = LineChain() }
    }
    guard chain != nil else { return takeUnchained(slab, line, next: next, &decoder, &steps) }
    return slab.withBytes(of: whole) { bytes in
      guard !isBroken, end == nil, var next = chain,
        let body = next.take(bytes, isFirst: lines == 0),
        case let kind = SegmentLines.kind(of: body), take(kind, slab, line, &decoder, &steps)
      else {
        isBroken = true
        noteMark(in: bytes)
        return false
      }
      chain = next
      onLine?(kind, body)
      return true
    }
  }

  /// Looks for a mark in a line that is not valid, or is two that have lost what was between them.
  /// No other line can contain its text, and it is not written before everything in front of it is
  /// synced.
  private func noteMark(in bytes: UnsafeBufferPointer<UInt8>) {
    if roomsOfBadLines.count < 100 { roomsOfBadLines.append(SegmentLines.room(in: bytes)) }
    if let mark = SegmentLines.lastMark(in: bytes) { syncedBytes = offset + mark }
  }

  private func takeUnchained(
    _ slab: ByteSlab, _ line: ByteSlab.Slice, next: Int, _ decoder: inout LineDecoder,
    _ steps: inout [RecordedStep]
  ) -> Bool {
    let kind = slab.withBytes(of: line) { bytes in
      bytes.last == UInt8(ascii: "}")
        ? SegmentLines.kind(of: UnsafeBufferPointer(rebasing: bytes.dropLast())) : .unknown
    }
    let isGood = take(kind, slab, line, &decoder, &steps)
    if case .end = kind { return isGood }
    slab.withBytes { checksum.add(UnsafeBufferPointer(rebasing: $0[Int(line.offset)..<next])) }
    return isGood
  }

  private func take(
    _ kind: SegmentLines.Kind, _ slab: ByteSlab, _ line: ByteSlab.Slice,
    _ decoder: inout LineDecoder, _ steps: inout [RecordedStep]
  ) -> Bool {
    switch kind {
    case .event(let instant):
      if decodes || chain == nil {
        guard case .event(let event, _) = decoder.decode(slab, line: line, arrival: 0) else {
          return false
        }
        if decodes { steps.append(.event(event, at: instant)) }
      }
      contents.note(instant, events: 1)
    case .frame(let instant, let flush):
      contents.note(instant, frames: 1)
      if decodes { steps.append(.frame(at: instant, flush: flush)) }
    case .change(let text, let instant):
      contents.note(instant)
      steps.append(.change(text, at: instant))
    case .header:
      // Another one would hide what the first line says, and so that the segment is in the wrong
      // place.
      guard lines == 0 else { return false }
      header = decode(SegmentHeader.self, slab, line).flatMap {
        KeptNumbers.range.contains($0.startedAt)
          && KeptNumbers.range.contains($0.sequence ?? 0) ? $0 : nil
      }
      newSequence = header?.sequence
      return header.map(continues) ?? false
    case .end:
      // It vouches for everything before it, and is the last line.
      end = decode(SegmentEnd.self, slab, line)
      beforeEnd = chain.map { (goodBytes, $0) }
      return end != nil
    case .synced(let sequence):
      (syncedBytes, newSequence) = (offset, sequence)
      return true
    case .unknown: return false
    }
    stepCount += 1
    return true
  }

  /// Whether a segment with this header is the one that follows the segment before.
  private func continues(_ header: SegmentHeader) -> Bool {
    previous == nil || LineChain.leads(previous, to: header.previous)
  }

  private func decode<Line: Decodable>(
    _ type: Line.Type, _ slab: ByteSlab, _ line: ByteSlab.Slice
  ) -> Line? {
    slab.withBytes(of: line) { bytes in
      try? JSONValue(parsing: bytes).decode(type)
    }
  }
}

/// The CRC-32 of a growing sequence of bytes, which is in the last line of segments of version 1.
private struct Checksum {
  private var value: UInt = 0

  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    value = crc32_z(value, bytes.baseAddress, bytes.count)
  }

  /// The checksum as eight hexadecimal digits.
  var text: String { Format.padded(value, 8, radix: 16) }
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

/// The result of reading a whole segment.
struct SegmentScan {
  let header: SegmentHeader?
  private(set) var end: SegmentEnd?
  let mark: SequenceMark?
  let contents: SegmentContents
  /// The end of the chain; `nil` if the lines are not chained, or not even the first one is valid.
  private(set) var chain: LineChain?
  let isChained: Bool
  let isDamaged: Bool
  let isUnwritten: Bool
  let lines: Int
  private(set) var goodBytes: Int
  let syncedBytes: Int
  fileprivate let beforeEnd: (bytes: Int, chain: LineChain)?
  /// Whether nothing in it is ours.
  var isStrange: Bool { goodBytes == 0 && !isChained }
  /// Whether the last line says that another segment follows.
  var isContinued: Bool { isChained && end != nil && end?.state == nil }

  /// The same as if the last line was not there.
  var withoutEnd: SegmentScan {
    var scan = self
    guard let beforeEnd, end != nil else { return scan }
    (scan.end, scan.goodBytes, scan.chain) = (nil, beforeEnd.bytes, beforeEnd.chain)
    return scan
  }
}

extension SegmentReader {
  /// Reads a segment to its end, to learn what it holds and whether it is intact.
  ///
  /// - Parameter onRead: called with the size of each block.
  static func scan(
    path: String, on disk: any Disk, onRead: (Int) -> Void = { _ in }
  ) throws(RecordingError) -> SegmentScan {
    let reader = try SegmentReader(path: path, on: disk, decodes: false)
    var decoder = LineDecoder(ofOwnLinesUpTo: longestLine)
    var steps: [RecordedStep] = []
    var bytes = 0
    while try reader.read(&decoder, into: &steps) {
      onRead(reader.bytesRead - bytes)
      steps.removeAll(keepingCapacity: true)
      bytes = reader.bytesRead
    }
    return reader.scan
  }

  /// The result, at the end.
  var scan: SegmentScan {
    SegmentScan(
      header: header, end: end, mark: mark, contents: contents,
      chain: goodBytes > 0 ? chain : nil,
      isChained: chain != nil, isDamaged: isDamaged, isUnwritten: isUnwritten, lines: lines,
      goodBytes: goodBytes, syncedBytes: syncedBytes, beforeEnd: beforeEnd)
  }
}
