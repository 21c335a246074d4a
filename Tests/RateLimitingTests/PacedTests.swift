import RateLimiting
import Testing

@Suite struct PacedTests {
  @Test func `without an adaptive interval, the cost of deliveries does not change the interval`() {
    var paced = Paced(LatestWins<Int>(interval: .milliseconds(10)))
    for _ in 0..<20 { paced.record(cost: .seconds(1)) }
    #expect(paced.limiter.interval == .milliseconds(10))
  }

  @Test func `expensive deliveries widen the throttle interval from the next window`() {
    var paced = Paced(KeepAll<Int>(interval: .milliseconds(10), capacity: 9))
    _ = paced.limiter.push(1, at: .tick(0))
    paced.follow(AdaptiveInterval(wanted: .milliseconds(10), maximum: .milliseconds(80)))
    for _ in 0..<20 { paced.record(cost: .seconds(1)) }
    #expect(paced.deadline == .tick(10), "a held value keeps its deadline")
    #expect(paced.wake(at: .tick(10)).output == [1])
    _ = paced.limiter.push(2, at: .tick(20))
    #expect(paced.deadline == .tick(100))
    #expect(paced.pending == 1)
    #expect(paced.flush(at: .tick(21)).output == [2])
  }

  @Test func `of two optional times, the earlier one is chosen, or the only one that is not nil`() {
    #expect(Instant.earlier(nil, nil) == nil)
    #expect(Instant.earlier(.tick(1), nil) == .tick(1))
    #expect(Instant.earlier(nil, .tick(1)) == .tick(1))
    #expect(Instant.earlier(.tick(2), .tick(1)) == .tick(1))
  }
}
