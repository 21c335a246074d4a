/// A rate of occurrences.
package struct Rate: Hashable, Sendable {
  /// The mean interval between occurrences; `nil` for a rate of zero.
  package let interval: VirtualTime?

  package init(interval: VirtualTime?) { self.interval = interval }

  /// Returns the rate multiplied by a factor in millionths.
  func times(millionths factor: Int64) -> Rate {
    guard let interval, factor > 0 else { return Rate(interval: nil) }
    let scaled = Int128(interval.nanoseconds) * 1_000_000 / Int128(factor)
    return Rate(interval: VirtualTime(nanoseconds: max(1, Int64(clamping: scaled))))
  }
}
