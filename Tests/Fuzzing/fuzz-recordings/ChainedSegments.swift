@testable import Recordings

/// Segments whose lines are tied together as the recorder does it. No mutation of bytes makes a line with a valid
/// checksum, so lines come without one, and get it here: what is behind the checksum is reached.
struct ChainedSegments {
  private(set) var segments: [[UInt8]] = []
  /// How many bytes of each segment the program knew to be synced when it ended: all of each but the last, and of that
  /// the lines before its last mark.
  private(set) var syncedBytes: [Int] = []
  /// Whether each says that another one follows.
  private var areContinued: [Bool] = []

  /// - Parameters:
  ///   - texts: the lines of each segment, see ``ChainedLines``.
  ///   - header: the first line of the first segment, where the text has none.
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

  /// Whether nothing in these segments, which an accident left, can tell that it befell anything but the last one, or
  /// that this one is gone.
  func mayEndEarly(_ found: [[UInt8]?]) -> Bool {
    let areSame = zip(segments, found).dropLast().allSatisfy { $0 == $1 }
    let isLost = found.last.map { $0 == nil } ?? false
    return areSame && !(isLost && areContinued.dropLast().last == true)
  }
}
