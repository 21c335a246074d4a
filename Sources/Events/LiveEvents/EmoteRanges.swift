/// The ranges of a text that are emotes, in Unicode scalars. Usable ranges are in order, non-empty,
/// disjoint, and within the text.
public enum EmoteRanges {
  /// The maximum number of emotes in a message. Twitch's longest message holds 167 of its shortest
  /// emotes.
  public static let limit = 192
  /// The valid positions. No line is long enough for a text with more scalars.
  package static let positions = 0...65_535

  /// Returns the usable ranges among the first ``limit`` of `ranges`, which may be in any order. Of
  /// overlapping ranges, the first to start is kept. Takes O(length of the text).
  public static func usable(_ ranges: some Collection<Range<Int>>, in text: Text) -> [Range<Int>] {
    guard !ranges.isEmpty else { return [] }
    let length = text.withUTF8 { $0.count { $0 & 0xC0 != 0x80 } }
    var usable: [Range<Int>] = []
    for range in ranges.prefix(limit).sorted(by: { $0.lowerBound < $1.lowerBound })
    where !range.isEmpty && range.lowerBound >= usable.last?.upperBound ?? 0
      && range.upperBound <= min(length, positions.upperBound)
    {
      usable.append(range)
    }
    return usable
  }

  /// Returns the start and end positions of ranges as a flat list, which ``paired(_:)`` reads.
  package static func positions(of ranges: [Range<Int>]) -> [Int] {
    ranges.flatMap { [$0.lowerBound, $0.upperBound] }
  }

  /// Returns the ranges in a flat list of start and end positions, or `nil` if they are not valid.
  public static func paired(_ positions: [Int]) -> [Range<Int>]? {
    guard positions.count % 2 == 0 else { return nil }
    var ranges: [Range<Int>] = []
    for index in stride(from: 0, to: positions.count, by: 2) {
      guard positions[index] <= positions[index + 1] else { return nil }
      ranges.append(positions[index]..<positions[index + 1])
    }
    return ranges
  }
}

extension ChatMessage {
  /// The ranges of the text that are emotes; see ``EmoteRanges``.
  public var emotes: [Range<Int>] {
    (0..<emoteCount).map { index in
      func position(_ half: Int) -> Int {
        slab.withBytes(
          of: ByteSlab.Slice(offset: emoteOffset + 1 + 4 * index + 2 * half, count: 2)
        ) { Int($0[0]) | Int($0[1]) << 8 }
      }
      let start = position(0)
      return start..<max(start, position(1))
    }
  }

  /// ``emotes`` as a flat list of start and end positions. `nil` without emotes.
  package var emotePositions: [Int]? { hasEmotes ? EmoteRanges.positions(of: emotes) : nil }
}
