import JSON
import LiveEvents
import WireFormats

/// Reads one segment from its beginning and checks it along the way.
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
  private var rest: [UInt8] = []
  private var checksum = Checksum()
  private(set) var contents = SegmentContents()
  private(set) var header: SegmentHeader?
  private(set) var end: SegmentEnd?
  /// Lines that do not belong in a recording.
  private(set) var badLines = 0
  /// The offset at which the last good line ends.
  private(set) var goodBytes = 0
  private(set) var bytesRead = 0
  private var offset = 0

  /// - Parameter limit: at most this many bytes are read, so that a reader does not run into what
  ///   is being written meanwhile.
  init(path: String, limit: Int = .max) throws(RecordingError) {
    file = try InputFile(path)
    self.limit = limit
  }

  /// Whether what has been read differs from what was written, as far as can be told: the last line
  /// vouches for those before it.
  var isDamaged: Bool { badLines > 0 || header == nil || (end.map { !agrees($0) } ?? false) }

  private func agrees(_ end: SegmentEnd) -> Bool {
    end.events == contents.events && end.frames == contents.frames && end.crc32 == checksum.text
  }

  /// Reads a block and adds its steps. Returns `false` at the end. Bytes after the last line ending
  /// are left out: their line was never finished.
  func read(
    _ decoder: inout LineDecoder, into steps: inout [RecordedStep]
  ) throws(RecordingError) -> Bool {
    let size = min(Self.blockSize, limit - bytesRead)
    guard size > 0, let slab = try file.block(after: rest[...], size: size) else { return false }
    bytesRead += slab.count - rest.count
    var position = 0
    while let line = slab.nextLine(at: &position) {
      let start = Int(line.offset)
      take(slab, line, next: position, &decoder, &steps)
      offset += position - start
    }
    rest = slab.withBytes { Array($0[position...]) }
    if rest.count > Self.longestLine {
      // Not one of our lines; what follows must not be read as the beginning of another.
      badLines += 1
      offset += rest.count
      rest = []
    }
    return true
  }

  private func take(
    _ slab: ByteSlab, _ line: ByteSlab.Slice, next: Int, _ decoder: inout LineDecoder,
    _ steps: inout [RecordedStep]
  ) {
    let start = Int(line.offset)
    let kind = slab.withBytes(of: line) { SegmentLines.kind(of: $0) }
    var isGood = true
    switch kind {
    case .event(let instant):
      if case .event(let event, _) = decoder.decode(slab, line: line, arrival: 0) {
        contents.note(instant, events: 1)
        steps.append(.event(event, at: instant))
      } else {
        isGood = false
      }
    case .frame(let instant, let flush):
      contents.note(instant, frames: 1)
      steps.append(.frame(at: instant, flush: flush))
    case .change(let text, let instant):
      contents.note(instant)
      steps.append(.change(text, at: instant))
    case .header:
      header = decode(SegmentHeader.self, slab, line)
      isGood = header != nil
    case .end:
      // It vouches for everything before it, and is the last line.
      end = decode(SegmentEnd.self, slab, line)
      isGood = end != nil
    case .unknown: isGood = false
    }
    if isGood { goodBytes = offset + next - start } else { badLines += 1 }
    guard case .end = kind else {
      slab.withBytes { checksum.add(UnsafeBufferPointer(rebasing: $0[start..<next])) }
      return
    }
  }

  private func decode<Line: Decodable>(
    _ type: Line.Type, _ slab: ByteSlab, _ line: ByteSlab.Slice
  ) -> Line? {
    slab.withBytes(of: line) { bytes in
      try? JSONValue(parsing: bytes).decode(type)
    }
  }

  /// Reads a segment to its end, to learn what it holds and whether it is intact.
  ///
  /// - Parameter onRead: called with the size of each block.
  static func scan(
    path: String, onRead: (Int) -> Void = { _ in }
  ) throws(RecordingError) -> SegmentScan {
    let reader = try SegmentReader(path: path)
    var decoder = LineDecoder(maximumLineLength: longestLine)
    var steps: [RecordedStep] = []
    var bytes = 0
    while try reader.read(&decoder, into: &steps) {
      steps.removeAll(keepingCapacity: true)
      onRead(reader.bytesRead - bytes)
      bytes = reader.bytesRead
    }
    return SegmentScan(
      header: reader.header, end: reader.end, contents: reader.contents,
      isDamaged: reader.isDamaged, goodBytes: reader.goodBytes)
  }
}

/// The result of reading a whole segment.
struct SegmentScan {
  var header: SegmentHeader?
  var end: SegmentEnd?
  var contents: SegmentContents
  var isDamaged: Bool
  /// The offset at which its last good line ends.
  var goodBytes: Int
}
