@testable import Recordings

/// The lines of one segment, generated from a text. This type adds checksums, numbers and the end
/// of the previous segment, and keeps the contents of the lines, valid or not.
struct ChainedLines {
  private(set) var bytes: [UInt8] = []
  private(set) var chain: LineChain
  /// The offset of the last mark. All earlier bytes were synced before the mark was written.
  private(set) var markedBytes = 0
  /// Whether the last line announces another segment.
  private(set) var isContinued = false
  private var events = 0
  private var frames = 0
  private let previous: String?

  /// - Parameter header: the first line, if the text does not begin with one.
  init(_ text: Slice<UnsafeBufferPointer<UInt8>>, _ header: SegmentHeader, after end: LineChain) {
    (chain, previous) = (end.nextSegment, header.previous)
    let lines = text.split(separator: UInt8(ascii: "\n"))
    if lines.first?.starts(with: #"{"type":"recording","#.utf8) != true {
      SegmentLines.append(header, type: SegmentHeader.type, to: &bytes)
      chain.close(&bytes, from: 0)
    }
    for line in lines { append(line) }
    // The first line is synced before any other line is written.
    if markedBytes == 0 { markedBytes = (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? -1) + 1 }
  }

  private mutating func append(_ line: Slice<UnsafeBufferPointer<UInt8>>) {
    let start = bytes.count
    bytes += line.last == UInt8(ascii: "}") ? line.dropLast() : line
    if line.starts(with: #"{"type":"segmentEnd""#.utf8), !line.contains(#""events""#.utf8) {
      bytes += #","events":\#(events),"frames":\#(frames)"#.utf8
    }
    let kind = bytes.withUnsafeBufferPointer {
      SegmentLines.kind(of: UnsafeBufferPointer(rebasing: $0[start...]))
    }
    isContinued = false
    switch kind {
    case .header:
      if let previous, !line.contains(#""previous""#.utf8) {
        bytes += #","previous":"\#(previous)""#.utf8
      }
    case .end: isContinued = !line.contains(#""state""#.utf8)
    case .synced: markedBytes = start
    case .event: events += 1
    case .frame: frames += 1
    case .change, .unknown: break
    }
    chain.close(&bytes, from: start)
  }
}
