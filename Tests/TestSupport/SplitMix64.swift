/// A seeded generator: the same seed gives the same stream on every machine.
public struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number in `range`.
  public mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

  /// Returns true once in `count` calls on average.
  public mutating func oneIn(_ count: Int) -> Bool { pick(0..<count) == 0 }
}
