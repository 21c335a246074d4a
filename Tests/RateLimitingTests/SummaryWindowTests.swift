import RateLimiting
import TestSupport
import Testing

@Suite struct SummaryWindowTests {
  /// In the notation of these tests, a digit is a sample. A window is drawn as last, count, sum,
  /// minimum, maximum.
  static func player() -> Marbles<SummaryWindow<1>> {
    func draw(_ window: SummaryWindow<1>.Summaries) -> String {
      guard let one = window[0] else { return "[]" }
      let numbers = [one.last, Double(one.count), one.sum, one.minimum, one.maximum]
      return "[" + numbers.map { "\(Int($0))" }.joined(separator: ",") + "]"
    }
    return Marbles(SummaryWindow<1>(interval: .ticks(3)), draw: draw) { machine, input, now in
      machine.push(Double(input.wholeNumberValue ?? 0), at: now).map(draw)
    }
  }

  @Test(
    arguments: [
      ("5", "---[5,1,5,5,5]"), ("592", "---[2,3,16,2,9]"), ("5927", "---[2,3,16,2,9]--[7,1,7,7,7]"),
      ("(13)!", "-[3,2,4,1,3]"), ("------", ""), ("4-----6", "---[4,1,4,4,4]-----[6,1,6,6,6]"),
    ])
  func `a window summarises last, count, sum, minimum and maximum, and is omitted if empty`(
    input: String, output: String
  ) {
    var player = Self.player()
    #expect(player.play(input) == output)
    #expect(player.counters.coalesced == 0 && player.counters.pending == 0)
  }

  @Test func `a sample that arrives after the end of a window belongs to the next window`() {
    var machine = SummaryWindow<1>(interval: .ticks(3))
    _ = machine.push(1, at: .tick(0))
    let step = machine.push(2, at: .tick(7))
    #expect(step.output?[0] == Summary(1))
    #expect(step.applied == 1 && step.wake == .tick(10))
    #expect(machine.flush(at: .tick(8)).output?[0] == Summary(2))
  }

  @Test func `each series is summarised separately, and a value that is not finite is left out`() {
    var machine = SummaryWindow<3>(interval: .ticks(3))
    _ = machine.push([1, .nan, .infinity], at: .tick(0))
    _ = machine.push([4, 2, -.infinity], at: .tick(1))
    let window = machine.flush(at: .tick(2)).output
    #expect(window?.samples == 2)
    #expect(window?[0]?.mean == 2.5)
    #expect(window?[1] == Summary(2))
    #expect(window?[2] == nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the summaries of windows lose no peak, and their sums are exact`(seed: UInt64) {
    var stream = RandomStream(seed: seed)
    var machine = SummaryWindow<2>(interval: .ticks(10))
    var counters = ConservationCounters()
    var open: [(Double, Double)] = []

    func add(_ step: Step<SummaryWindow<2>.Summaries>, pushed: (Double, Double)? = nil) {
      counters.record(step)
      #expect(counters.isConserved && counters.pending == machine.pending)
      #expect(step.wake == machine.deadline)
      if let window = step.output {
        for (series, values) in [open.map(\.0), open.map(\.1)].enumerated() {
          #expect(window[series]?.minimum == values.min())
          #expect(window[series]?.maximum == values.max())
          #expect(window[series]?.last == values.last)
          #expect(window[series]?.sum == values.reduce(0, +))
          #expect(window[series]?.count == values.count)
        }
        open = []
      }
      if let pushed { open.append(pushed) }
    }
    for _ in 0..<3_000 {
      let now = stream.next(disordered: true)
      let first = Double(Int.random(in: -1_000...1_000, using: &stream.generator))
      let second = Double(Int.random(in: -1_000...1_000, using: &stream.generator))
      if stream.oneIn(4) { add(machine.wake(at: now)) }
      if stream.oneIn(100) { add(machine.flush(at: now)) }
      counters.receive()
      add(machine.push([first, second], at: now), pushed: (first, second))
    }
    add(machine.flush(at: .tick(0)))
    #expect(counters.applied == 3_000)
  }

  @Test func `the summaries of two windows can be combined`() {
    var joined = Summary(3)
    joined.add(9)
    var later = Summary(-2)
    later.add(4)
    joined.add(later)
    #expect(joined.count == 4 && joined.sum == 14 && joined.last == 4)
    #expect(joined.minimum == -2 && joined.maximum == 9)
  }
}
