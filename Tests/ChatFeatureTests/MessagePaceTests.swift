import ChatFeature
import Foundation
import LiveEvents
import TestSupport
import Testing

@Suite struct MessagePaceTests {
  @Test func `the window of the message rate is exactly a thousand milliseconds long`() {
    var pace = MessagePace()
    for time: Timestamp in [500, 1_499, 1_500] { pace.count(time) }
    pace.settle()
    #expect(pace.busiest.sliding == 2)
    #expect(pace.busiest.byClock == 2)
    #expect(pace.rate == 2)
  }

  @Test func `a late message is counted in the second in which it was written`() {
    var pace = MessagePace()
    for time: Timestamp in [1_000, 1_900, 9_000] { pace.count(time) }
    pace.settle()
    #expect(pace.busiest.sliding == 2)
    pace.count(1_500)
    pace.settle()
    #expect(pace.busiest.sliding == 3)
    #expect(pace.busiest.byClock == 3)
  }

  @Test func `the window of the message rate includes messages of earlier batches`() {
    var pace = MessagePace()
    for time: Timestamp in [1, 1_000, 1_001] {
      pace.count(time)
      pace.settle()
    }
    #expect(pace.busiest.sliding == 2)
  }

  @Test
  func `a message with the maximum lateness still counts in the second of its timestamp`() {
    var pace = MessagePace()
    for time: Timestamp in [9_001, 9_500, 20_000, 10_000] {
      pace.count(time)
      pace.settle()
    }
    #expect(pace.busiest.sliding == 3)
  }

  @Test func `a message beyond the maximum lateness does not count towards the rate`() {
    var pace = MessagePace()
    pace.count(20_000)
    for _ in 0..<5 { pace.count(9_999) }
    pace.count(10_000)
    pace.settle()
    #expect(pace.busiest.sliding == 1)
    #expect(pace.rate == 1)
  }

  @Test func `a clock that was set back is detected`() {
    var pace = MessagePace()
    pace.count(4_102_444_800_000)
    for index in 0..<200 { pace.count(50_000 + Timestamp(index)) }
    pace.settle()
    #expect(pace.busiest.sliding == 200 - MessagePace.patience + 1)
    #expect(pace.rate == 200 - MessagePace.patience + 1)
  }

  @Test(arguments: 1...20)
  func `counting messages together gives the same rates as counting them one by one`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var (together, apart) = (MessagePace(), MessagePace())
    for _ in 0..<300 {
      // The random messages include late timestamps, and clocks that are set back.
      let time = Timestamp.random(
        in: 0...Timestamp.random(in: 1_000...60_000, using: &random), using: &random)
      let times = Int.random(in: 1...40, using: &random)
      together.count(time, times: times)
      for _ in 0..<times { apart.count(time) }
      if Bool.random(using: &random) {
        together.settle()
        apart.settle()
      }
    }
    together.settle()
    apart.settle()
    #expect(together == apart)
  }

  @Test func `a tick with a wrong time is corrected by the next tick`() {
    var pace = MessagePace()
    pace.advance(to: 4_102_444_800_000)
    for index in 0..<20 { pace.count(50_000 + Timestamp(index)) }
    pace.settle()
    #expect(pace.rate == 0)
    pace.advance(to: 50_500)
    #expect(pace.rate == 20)
    #expect(pace.recent == 20)
  }

  @Test func `the message rate tolerates extreme timestamps`() {
    var pace = MessagePace()
    for time: Timestamp in [.min, .max, 0, -1, .min, .max] {
      pace.count(time)
      pace.settle()
      pace.advance(to: time)
    }
    #expect(pace.busiest.sliding == 2)
  }

  @Test func `messages written before 1970 are counted in the right second`() {
    var pace = MessagePace()
    for time: Timestamp in [-1_000, -1, 0, 999] { pace.count(time) }
    pace.settle()
    #expect(pace.busiest.byClock == 2)
    #expect(pace.busiest.sliding == 2)
  }

  private func ascendingTimes(_ random: inout SplitMix64) -> [Timestamp] {
    var time: Timestamp = 1_000_000
    let step = Timestamp.random(in: 1..<300, using: &random)
    return (0..<600).map { _ in
      time += Timestamp.random(in: 0..<step, using: &random)
      return time
    }
  }

  /// Compares with a count over the whole stream, for any division into batches.
  @Test(arguments: 1...40)
  func `the maximum message counts per clock second and sliding second are exact for any order`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var pace = MessagePace()
    var times: [Timestamp] = []
    let lateness = Timestamp.random(in: 0...MessagePace.horizon, using: &random)
    for time in ascendingTimes(&random) {
      let late = time - Timestamp.random(in: 0...lateness, using: &random)
      times.append(late)
      pace.count(late)
      if Int.random(in: 0..<10, using: &random) == 0 { pace.settle() }
    }
    pace.settle()
    let sliding = times.map { end in times.count { $0 > end - 1_000 && $0 <= end } }.max()
    let byClock = Dictionary(grouping: times) { $0 / 1_000 }.values.map(\.count).max()
    let newest = times.max()!
    #expect(pace.busiest.sliding == sliding)
    #expect(pace.busiest.byClock == byClock)
    #expect(pace.rate == times.count { $0 > newest - 1_000 })
  }

  /// Compares with a count over all messages, after each batch and each tick.
  @Test(arguments: 1...40)
  func `the message rates of the last second and of the last ten seconds are exact`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var pace = MessagePace()
    var times: [Timestamp] = []
    for time in ascendingTimes(&random) {
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        times.append(time - Timestamp.random(in: 0...MessagePace.horizon / 2, using: &random))
        pace.count(times.last!)
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        // Occasionally sends a tick whose time is far ahead of the messages, or a correct tick
        // after it.
        let leap: Timestamp = Int.random(in: 0..<8, using: &random) == 0 ? 60_000 : 0
        pace.advance(to: time + leap)
      case 1: pace.settle()
      default: continue
      }
      #expect(pace.rate == times.count { $0 > pace.now - 1_000 })
      #expect(pace.recent == times.count { $0 > pace.now - 10_000 })
    }
  }

  /// More than a thousand counts of this size would overflow their sum.
  @Test(arguments: [1 << 52, -1]) func `a saved message rate that is out of range is rejected`(
    count: Int
  )
    throws
  {
    var pace = MessagePace()
    pace.count(5, times: 7)
    let saved = try String(decoding: JSONEncoder().encode(pace), as: UTF8.self)
    let forged = saved.replacing("\"count\":7", with: "\"count\":\(count)")
    #expect(forged != saved)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(MessagePace.self, from: Data(forged.utf8))
    }
  }
}
