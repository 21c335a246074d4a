/// A histogram of durations with percentiles: exact below 512 ns, and within 0.4 % above.
struct DurationHistogram: Sendable {
  /// The number of bits that subdivide each power of two.
  private static let precision = 8

  private var counts: [Int] = []
  private(set) var count = 0
  private(set) var maximum: Int64 = 0

  /// Adds a duration. O(1). A negative duration counts as zero.
  mutating func add(_ duration: Int64, times: Int = 1) {
    let value = max(duration, 0)
    let index = Self.index(UInt64(value))
    if index >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: index + 1 - counts.count))
    }
    counts[index] += times
    count += times
    maximum = max(maximum, value)
  }

  /// Returns a percentile, given in thousandths: the smallest duration that at least this share of
  /// all durations does not exceed. Returns 0 if the histogram is empty.
  func percentile(_ thousandths: Int) -> Int64 {
    guard count > 0 else { return 0 }
    let rank = max(1, (count * thousandths + 999) / 1_000)
    var seen = 0
    for (index, number) in counts.enumerated() where number > 0 {
      seen += number
      if seen >= rank { return min(Self.highest(of: index), maximum) }
    }
    return maximum
  }

  /// Returns the counts that may include durations of at least `bound`, with the longest duration
  /// that each count includes.
  func counts(from bound: Int64) -> [(highest: Int64, count: Int)] {
    counts.enumerated().compactMap { index, count in
      let highest = min(Self.highest(of: index), maximum)
      return count > 0 && highest >= bound ? (highest, count) : nil
    }
  }

  private static func index(_ value: UInt64) -> Int {
    let bits = 64 - value.leadingZeroBitCount
    let shift = max(0, bits - 1 - precision)
    return (shift << precision) + Int(value >> UInt64(shift))
  }

  /// Returns the longest duration that is counted at `index`.
  private static func highest(of index: Int) -> Int64 {
    let shift = max(0, (index >> precision) - 1)
    let value = index - (shift << precision)
    return (Int64(value + 1) << Int64(shift)) - 1
  }
}
