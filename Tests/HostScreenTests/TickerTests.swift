import HostScreen
import RateLimiting
import Testing

@Suite struct TickerTests {
  private func second(_ number: Int64) -> Instant { .origin + .seconds(number) }

  @Test func `there are no ticks before the first event`() {
    var ticker = Ticker()
    #expect(ticker.next == nil)
    #expect(ticker.tick(at: second(100)) == nil)
  }

  @Test func `a tick each second gives the time of the events, advanced by the room's time`() {
    var ticker = Ticker()
    ticker.note(5_000, at: second(10))
    #expect(ticker.tick(at: second(12)) == 7_000)
    #expect(ticker.tick(at: second(12) + .milliseconds(999)) == nil)
    #expect(ticker.next == second(13))
    #expect(ticker.tick(at: second(13)) == 8_000)
  }

  @Test func `a wrong time stamp is forgotten after a hundred others`() {
    var ticker = Ticker()
    ticker.note(5_000, at: second(10))
    ticker.note(4_102_444_800_000, at: second(10))
    for _ in 0..<101 { ticker.note(7_000, at: second(12)) }
    #expect(ticker.tick(at: second(13)) == 8_000)
    // Sources with different clocks do not advance the time.
    for _ in 0..<500 {
      ticker.note(30_000, at: second(13))
      ticker.note(8_000, at: second(13))
    }
    #expect(ticker.time(at: second(13)) == 30_000)
  }

  @Test func `a late event does not set the time back`() {
    var ticker = Ticker()
    ticker.note(5_000, at: second(10))
    ticker.note(4_000, at: second(11))
    #expect(ticker.tick(at: second(12)) == 7_000)
  }
}
