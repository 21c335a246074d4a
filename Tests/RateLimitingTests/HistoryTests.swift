import Foundation
import RateLimiting
import Testing

@Suite struct HistoryTests {
  private var sampler = HistorySampler()
  private var history: History?

  private mutating func add(_ value: Double, at seconds: Int64) {
    history = sampler.add(value, at: seconds * 1_000, to: history)
  }

  @Test
  mutating func
    `a sample of a history is the mean of five seconds, and the first five seconds give none`()
  {
    for second: Int64 in 0..<5 { add(Double(second), at: 1_000 + second) }
    #expect(history == nil)
    add(9, at: 1_005)
    #expect(history?.samples == [2])
  }

  @Test mutating func `a history repeats its previous sample for five seconds without a value`() {
    add(3, at: 0)
    add(7, at: 20)
    #expect(history?.samples == [3, 3, 3, 3])
  }

  @Test
  mutating func `a history keeps ten minutes, however long time runs and however far it jumps`() {
    for second: Int64 in 0..<2_000 { add(Double(second), at: second) }
    #expect(history?.samples.count == 120)
    #expect(history?.samples.last == 1_992)
    add(1, at: 1_000_000)
    #expect(history?.samples.count == 120)
    #expect(Set(history?.samples ?? []).count == 1)
  }

  @Test
  mutating func `a slightly late value counts as current, and a clock set back restarts the span`()
  {
    add(1, at: 100)
    add(3, at: 98)
    add(0, at: 105)
    #expect(history?.samples == [2])
    add(5, at: 10)
    #expect(history?.samples == [2])
    add(0, at: 15)
    #expect(history?.samples == [2, 5])
  }

  @Test(arguments: [Int64.min, -1, 0, .max])
  func `all samples of a history are finite for any times and values`(time: Int64) {
    var sampler = HistorySampler()
    var history: History?
    for value in [1, .nan, .infinity, 1e300, -1e300, 0] {
      for time in [time, 0, Int64.max, .min, time] {
        history = sampler.add(value, at: time, to: history)
      }
    }
    #expect(history?.samples.allSatisfy(\.isFinite) != false)
  }

  @Test mutating func `a history is encoded as one string and decoded unchanged`() throws {
    for second: Int64 in 0..<30 { add(Double(second) * 1.25, at: second) }
    let bytes = try JSONEncoder().encode([try #require(history)])
    #expect(String(decoding: bytes, as: UTF8.self).filter { $0 == "," }.isEmpty)
    #expect(try JSONDecoder().decode([History].self, from: bytes) == [history])
    for text in [#"["1 x"]"#, #"["1 inf"]"#, "[\"\(String(repeating: "1 ", count: 121))\"]"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([History].self, from: Data(text.utf8))
      }
    }
  }
}
