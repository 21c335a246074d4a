import HostScreen
import LiveEvents
import Testing

@Suite struct EventCountTests {
  private func made(applied: Int, rejected: Int) -> EventCounts {
    var counts = EventCounts()
    counts.received = applied
    counts.applied = applied
    counts.reject(.unknownType, rejected)
    return counts
  }

  @Test func `counts of events are added and subtracted`() {
    let (one, other) = (made(applied: 7, rejected: 2), made(applied: 5, rejected: 3))
    var sum = one
    sum.add(other)
    #expect(sum == made(applied: 12, rejected: 5))
    #expect(sum.isConserved && sum.isPossible)
    sum.subtract(other)
    #expect(sum == one)
    sum.subtract(one)
    #expect(sum == EventCounts())
  }

  /// A client may repeatedly open rooms with manipulated counts.
  @Test(arguments: [(1 << 62, 0), (1, 1 << 62)])
  func `counts whose sum overflows are left out, and the others still add up`(
    applied: Int, rejected: Int
  ) {
    let large = made(applied: applied, rejected: rejected)
    var sum = large
    for _ in 0..<1_100 { sum.add(large) }
    #expect(sum == large)
    let small = made(applied: 3, rejected: 1)
    sum.add(small)
    #expect(sum.isConserved)
    sum.subtract(large)
    #expect(sum == small)
    // Subtracts more than was added.
    sum.subtract(large)
    #expect(sum == small)
  }

  @Test func `counts that do not add up are rejected`() {
    var counts = made(applied: 3, rejected: 2)
    #expect(counts.isPossible)
    counts.received += 1
    #expect(!counts.isPossible)
    counts.pending = 1
    #expect(counts.isConserved && !counts.isPossible, "Held events must not be saved.")
    var negative = EventCounts()
    (negative.received, negative.applied) = (-1, -1)
    #expect(!negative.isPossible)
  }
}
