/// Where the text of a message has emotes, in Unicode scalars of the text: in order, not empty, apart from each other
/// and within the text.
public enum EmoteRanges {
  /// How many a message keeps. On Twitch the shortest emotes fill the longest message with 167.
  public static let limit = 192
  /// No line has a text with more scalars.
  package static let positions = 0...65_535

  /// What is usable of ranges in any order, at most the first ``limit`` of them. Of those that overlap the one that
  /// begins first is kept.
  ///
  /// - Complexity: O(length of the text).
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

  /// The beginnings and ends of ranges in a row, as ``paired(_:)`` reads them.
  package static func positions(of ranges: [Range<Int>]) -> [Int] {
    ranges.flatMap { [$0.lowerBound, $0.upperBound] }
  }

  /// Pairs of the first position and the one behind the last; `nil` if they are no ranges.
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
  /// Where its text has emotes; see ``EmoteRanges``.
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

  /// ``emotes`` as the positions of their beginnings and ends, in a row; `nil` if there are none.
  package var emotePositions: [Int]? { hasEmotes ? EmoteRanges.positions(of: emotes) : nil }
}
