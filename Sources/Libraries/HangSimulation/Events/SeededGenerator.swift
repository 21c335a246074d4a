/// A pseudo-random number generator whose output depends on the seed alone: SplitMix64 (Steele,
/// Lea, Flood 2014).
///
/// Uses integers only, and implements its own distributions. The algorithm of the standard
/// library's `random(in:)` may change between versions. The last bit of the C library's logarithm
/// differs between processors.
public struct SeededGenerator: Sendable {
  @usableFromInline var state: UInt64

  /// - Parameter stream: The number of an independent stream of the seed. Each part of a simulation
  ///   can have its own stream, so that a change to one part does not affect the others.
  @inlinable public init(seed: UInt64, stream: UInt64 = 0) {
    var mixed = SeededGenerator(state: seed)
    let start = mixed.next()
    mixed.state = start ^ (stream &* 0xD1B5_4A32_D192_ED03)
    state = mixed.next()
  }

  @inlinable init(state: UInt64) { self.state = state }

  /// Returns 64 uniformly distributed bits.
  @inlinable public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns a uniformly distributed number in a range.
  @inlinable public mutating func integer(in range: ClosedRange<Int>) -> Int {
    let span =
      UInt64(bitPattern: Int64(range.upperBound)) &- UInt64(bitPattern: Int64(range.lowerBound))
    guard span < .max else { return Int(truncatingIfNeeded: next()) }
    let count = span + 1
    // Redraws the few low halves for which the high half would not be uniform (Lemire 2019).
    let unfair = (0 &- count) % count
    var product = next().multipliedFullWidth(by: count)
    while product.low < unfair { product = next().multipliedFullWidth(by: count) }
    return range.lowerBound &+ Int(truncatingIfNeeded: product.high)
  }

  /// Returns true once in `count` calls on average.
  @inlinable public mutating func isOne(in count: Int) -> Bool {
    integer(in: 1...max(count, 1)) == 1
  }

  /// Returns a uniformly chosen element.
  @inlinable public mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[integer(in: 0...(elements.count - 1))]
  }

  /// Returns the time to the next event, for independent events with a mean interval of `mean`.
  ///
  /// Samples the exponential distribution by von Neumann's method of 1951, which only compares
  /// numbers. A falling run of uniform draws ends after an odd number of draws with exactly the
  /// probability that a logarithm would give.
  @inlinable public mutating func interval(mean: VirtualTime) -> VirtualTime {
    var whole: Int64 = 0
    while true {
      let first = next()
      var last = first
      var isOdd = true
      while true {
        let draw = next()
        guard draw < last else { break }
        last = draw
        isOdd.toggle()
      }
      if isOdd {
        let fraction = UInt64(mean.nanoseconds).multipliedFullWidth(by: first).high
        return VirtualTime(nanoseconds: whole * mean.nanoseconds + Int64(fraction))
      }
      whole += 1
    }
  }
}
