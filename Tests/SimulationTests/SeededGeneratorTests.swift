import HangSimulation
import Simulation
import Testing

@Suite struct SeededGeneratorTests {
  @Test func `random numbers are determined by seed and stream`() {
    func numbers(_ seed: UInt64, _ stream: UInt64) -> [UInt64] {
      var random = SeededGenerator(seed: seed, stream: stream)
      return (0..<8).map { _ in random.next() }
    }
    #expect(numbers(1, 2) == numbers(1, 2))
    #expect(Set([numbers(1, 2), numbers(2, 1), numbers(1, 3), numbers(2, 2)]).count == 4)
  }

  @Test(arguments: [0...0, -3...3, 1...6, Int.min...Int.max, 0...Int.max])
  func `random integers are within the requested range`(range: ClosedRange<Int>) {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<1_000 { #expect(range.contains(random.integer(in: range))) }
  }

  @Test func `random integers are uniformly distributed`() {
    var random = SeededGenerator(seed: 11)
    var counts = [Int](repeating: 0, count: 6)
    for _ in 0..<60_000 { counts[random.integer(in: 0...5)] += 1 }
    #expect(counts.allSatisfy { abs($0 - 10_000) < 500 })
  }

  @Test func `random intervals have the exponential distribution of independent events`() {
    var random = SeededGenerator(seed: 13)
    let mean = VirtualTime.milliseconds(200)
    let intervals = (0..<100_000).map { _ in random.interval(mean: mean).nanoseconds }
    let average = intervals.reduce(0, +) / Int64(intervals.count)
    #expect(abs(average - mean.nanoseconds) < mean.nanoseconds / 50)
    // Of all intervals, a share of e^-1 is longer than the mean, and a share of e^-3 is longer than
    // three times the mean.
    let long = intervals.count { $0 > mean.nanoseconds }
    #expect(abs(long - 36_788) < 800)
    let veryLong = intervals.count { $0 > 3 * mean.nanoseconds }
    #expect(abs(veryLong - 4_979) < 400)
    #expect(intervals.allSatisfy { $0 >= 0 })
  }
}
