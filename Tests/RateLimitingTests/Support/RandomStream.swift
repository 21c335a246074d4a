import RateLimiting
import TestSupport

/// The times of a random stream: bursts, pauses, equal times, and occasionally a timestamp before
/// the previous one.
struct RandomStream {
  var generator: SplitMix64
  private(set) var now: Int64 = 0

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// Returns the next time. Time goes back only if `disordered` is true.
  mutating func next(disordered: Bool = false) -> Instant {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: now += Int64.random(in: 0...30_000_000, using: &generator)
    case 1, 2, 3: break
    default: now += Int64.random(in: 0...1_000_000, using: &generator)
    }
    guard disordered, generator.oneIn(6) else { return Instant(nanoseconds: now) }
    return Instant(nanoseconds: now - Int64.random(in: 0...4_000_000, using: &generator))
  }

  mutating func oneIn(_ count: Int) -> Bool { generator.oneIn(count) }
}
