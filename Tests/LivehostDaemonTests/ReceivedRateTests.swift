import LivehostDaemon
import NIOCore
import Testing

@Suite struct ReceivedRateTests {
  private func time(_ seconds: Int64) -> NIODeadline {
    .uptimeNanoseconds(0) + .seconds(100 + seconds)
  }

  @Test func `events received before a restart do not count towards the rate`() {
    var rate = ReceivedRate()
    #expect(rate.rate(11_454, at: time(1)) == 0)
    rate.add(11_454, at: time(1))
    #expect(rate.rate(11_454, at: time(2)) == 0)
    #expect(rate.rate(11_474, at: time(3)) == 10)
  }

  @Test func `the rate of events covers the last ten seconds, however often it is read`() {
    var rate = ReceivedRate()
    for second in 0...60 { rate.add(second < 30 ? second * 100 : 3_000, at: time(Int64(second))) }
    #expect(rate.rate(3_000, at: time(60)) == 0)
    rate.add(3_100, at: time(61))
    #expect(rate.rate(3_100, at: time(61)) == 10)
    // No total has been recorded for a while.
    #expect(rate.rate(9_000, at: time(600)) == 0)
  }
}
