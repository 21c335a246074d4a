import RateLimiting
import TestSupport
import Testing

@Suite struct ConservationCountersTests {
  @Test func `throttle counters account for each input from its arrival to its end`() {
    var counters = ConservationCounters()
    counters.receive(10)
    counters.record(Step<Int>(output: 1, applied: 3, coalesced: 2))
    counters.reject()
    #expect(
      counters
        == ConservationCounters(received: 10, applied: 3, coalesced: 2, rejected: 1, pending: 4))
    #expect(counters.isConserved)
    let doubled = counters + counters
    #expect(doubled.isConserved && doubled.received == 20 && doubled.rejected == 2)
  }

  @Test func `an input that is counted twice is detected`() {
    var counters = ConservationCounters()
    counters.receive()
    counters.apply(2)
    #expect(!counters.isConserved)
    #expect(
      !ConservationCounters(received: 1, applied: 0, coalesced: 0, rejected: 0, pending: 0)
        .isConserved)
  }
}

@Suite struct TimeTests {
  @Test func `time arithmetic saturates instead of trapping`() {
    let end = Instant(nanoseconds: .max)
    let start = Instant(nanoseconds: .min)
    #expect(end + .seconds(1) == end)
    #expect(start + .seconds(-1) == start)
    #expect(end - start == Interval(nanoseconds: .max))
    #expect(start - end == Interval(nanoseconds: .min))
    #expect(Interval.seconds(.max) == Interval(nanoseconds: .max))
    #expect(Interval.seconds(.min) == Interval(nanoseconds: .min))
    #expect(Interval(nanoseconds: .max) + .seconds(1) == Interval(nanoseconds: .max))
  }

  @Test func `throttle intervals and durations are converted into each other`() {
    #expect(Interval(Duration.milliseconds(1_500)) == .milliseconds(1_500))
    #expect(Interval(Duration.milliseconds(-1_500)) == .milliseconds(-1_500))
    #expect(Duration(Interval.microseconds(7)) == .microseconds(7))
    #expect(Interval(Duration.seconds(Int64.max)) == Interval(nanoseconds: .max))
  }
}
