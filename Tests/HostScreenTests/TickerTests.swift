import HostScreen
import RateLimiting
import Testing

@Suite struct TickerTests {
  private func second(_ number: Int64) -> Instant { .origin + .seconds(number) }

  @Test func `there are no ticks before the first event of a room`() {
    var ticker = Ticker()
    #expect(ticker.next == nil)
    #expect(ticker.tick(at: second(100)) == nil)
  }

  @Test
  func `the time of a tick is that of the last event plus the time passed on the room's clock`() {
    var ticker = Ticker()
    ticker.setTime(5_000, at: second(10))
    #expect(ticker.tick(at: second(12)) == 7_000)
    #expect(ticker.tick(at: second(12) + .milliseconds(999)) == nil)
    #expect(ticker.next == second(13))
    #expect(ticker.tick(at: second(13)) == 8_000)
  }

  @Test(arguments: [0, 1, 370, 999])
  func `the same events cause the same ticks, however old the room is`(age: Int64) {
    let start = second(age / 2) + .milliseconds(age)
    var ticker = Ticker()
    var ticks: [Int64] = []
    for step in 0..<40 {
      let now = start + .milliseconds(Int64(step) * 130)
      if step.isMultiple(of: 3) { ticker.setTime(5_000 + Int64(step) * 130, at: now) }
      if let time = ticker.tick(at: now) { ticks.append(time) }
    }
    #expect(ticks == [6_040, 7_080, 8_120, 9_160])
  }

  @Test func `after a hundred other events, a wrong timestamp no longer affects the time of ticks`()
  {
    var ticker = Ticker()
    ticker.setTime(5_000, at: second(10))
    ticker.setTime(4_102_444_800_000, at: second(10))
    for _ in 0..<101 { ticker.setTime(7_000, at: second(12)) }
    #expect(ticker.tick(at: second(13)) == 8_000)
    // Two sources with different clocks do not advance the time.
    for _ in 0..<500 {
      ticker.setTime(30_000, at: second(13))
      ticker.setTime(8_000, at: second(13))
    }
    #expect(ticker.time(at: second(13)) == 30_000)
  }

  @Test func `a late event does not set the time of the ticks back`() {
    var ticker = Ticker()
    ticker.setTime(5_000, at: second(10))
    ticker.setTime(4_000, at: second(11))
    #expect(ticker.tick(at: second(12)) == 7_000)
  }
}
