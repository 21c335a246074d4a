import RateLimiting
import TestSupport
import Testing

@Suite struct AdaptiveIntervalTests {
  static let frame = Interval.milliseconds(16)
  static let bound = Interval.milliseconds(250)

  static func interval() -> AdaptiveInterval {
    AdaptiveInterval(wanted: frame, maximum: bound, budgetPerMille: 100)
  }

  @Test func `cheap deliveries keep the configured interval`() {
    var adaptive = Self.interval()
    for _ in 0..<100 { adaptive.record(cost: .milliseconds(1)) }
    #expect(adaptive.current == Self.frame)
    #expect(adaptive.current == adaptive.wanted)
  }

  @Test func `expensive deliveries widen the interval until their cost fits the budget`() {
    var adaptive = Self.interval()
    for _ in 0..<100 { adaptive.record(cost: .milliseconds(10)) }
    #expect(adaptive.current == .milliseconds(100))
    #expect(adaptive.current > adaptive.wanted)
  }

  @Test func `no cost of deliveries widens the interval beyond its maximum`() {
    var adaptive = Self.interval()
    adaptive.record(cost: Interval(nanoseconds: .max))
    #expect(adaptive.current == Self.bound)
  }

  @Test func `the interval returns to the configured one when deliveries become cheap`() {
    var adaptive = Self.interval()
    for _ in 0..<10 { adaptive.record(cost: .seconds(1)) }
    var previous = adaptive.current
    for _ in 0..<60 {
      adaptive.record(cost: .zero)
      #expect(adaptive.current <= previous)
      #expect(adaptive.current.nanoseconds >= previous.nanoseconds * 7 / 8 - 1)
      previous = adaptive.current
    }
    #expect(adaptive.current == Self.frame)
  }

  @Test func `the staleness of events stays within its maximum while the interval adapts`() {
    var generator = SplitMix64(seed: 9)
    var adaptive = Self.interval()
    var machine = LatestWins<Instant>(interval: adaptive.current)
    for tick in 0..<20_000 as Range<Int64> {
      let now = Instant.tick(tick)
      for step in [machine.wake(at: now), machine.push(now, at: now)] {
        guard let value = step.output else { continue }
        #expect(now - value <= Self.bound)
        adaptive.record(cost: .milliseconds(Int64.random(in: 0...60, using: &generator)))
        machine.interval = adaptive.current
      }
    }
  }

  @Test func `a negative cost of a delivery counts as zero, and equal costs give equal intervals`()
  {
    var (one, other) = (Self.interval(), Self.interval())
    one.record(cost: .milliseconds(-5))
    other.record(cost: .zero)
    #expect(one == other)
  }
}
