@testable import Recordings

/// Segments whose lines are chained as the recorder does. Mutated bytes never have a valid
/// checksum, so inputs have lines without checksums. Adding them here lets inputs reach the code
/// after the check.
struct ChainedSegments {
  private(set) var segments: [[UInt8]] = []
  /// The number of synced bytes of each segment when the program ended. Segments are completely
  /// synced, except the last one, of which only the lines before its last mark are synced.
  private(set) var syncedBytes: [Int] = []
  /// Whether each segment announces another segment.
  private var areContinued: [Bool] = []

  /// - Parameters:
  ///   - texts: the lines of each segment, see ``ChainedLines``.
  ///   - header: the first line of the first segment if the text has none.
  init(_ texts: [Slice<UnsafeBufferPointer<UInt8>>], _ header: SegmentHeader) {
    var header = header
    var chain = LineChain()
    for text in texts {
      let lines = ChainedLines(text, header, after: chain)
      segments.append(lines.bytes)
      syncedBytes.append(header.segment < texts.count ? lines.bytes.count : lines.markedBytes)
      areContinued.append(lines.isContinued)
      chain = lines.chain
      (header.segment, header.previous) = (header.segment + 1, chain.text)
    }
  }

  /// Whether the remaining segments cannot show that an earlier segment was damaged or that the
  /// last segment is missing.
  func mayEndEarly(_ found: [[UInt8]?]) -> Bool {
    let areSame = zip(segments, found).dropLast().allSatisfy { $0 == $1 }
    let isLost = found.last.map { $0 == nil } ?? false
    return areSame && !(isLost && areContinued.dropLast().last == true)
  }
}
