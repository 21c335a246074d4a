import HostScreen
import RateLimiting
import Testing

@Suite("Ticks of a room")
struct TickerTests {
  private func second(_ number: Int64) -> Instant { .origin + .seconds(number) }

  @Test("there is none before the first event")
  func none() {
    var ticker = Ticker()
    #expect(ticker.next == nil)
    #expect(ticker.tick(at: second(100)) == nil)
  }

  @Test("one a second tells the time of the events, gone on by the room's time")
  func time() {
    var ticker = Ticker()
    ticker.note(5_000, at: second(10))
    #expect(ticker.tick(at: second(12)) == 7_000)
    #expect(ticker.tick(at: second(12) + .milliseconds(999)) == nil)
    #expect(ticker.next == second(13))
    #expect(ticker.tick(at: second(13)) == 8_000)
  }

  @Test("a time stamp that was a mistake is forgotten after a hundred others")
  func mistake() {
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

  @Test("a late event does not set the time back")
  func late() {
    var ticker = Ticker()
    ticker.note(5_000, at: second(10))
    ticker.note(4_000, at: second(11))
    #expect(ticker.tick(at: second(12)) == 7_000)
  }
}
