import RateLimiting
import TestSupport
import Testing

@Suite struct AggregateTests {
  static func draw(_ sums: [Aggregate<Character>.Sum]) -> String {
    "[" + sums.map { "\($0.key)\($0.amount)" }.joined() + "]"
  }

  static func player(keyCapacity: Int = 8) -> Marbles<Aggregate<Character>> {
    Marbles(Aggregate(interval: .ticks(3), keyCapacity: keyCapacity), draw: draw) {
      machine, input, now in
      machine.push(1, for: input, at: now).map(draw)
    }
  }

  @Test(
    arguments: [
      ("a", "---[a1]"), ("aab", "---[a2b1]"), ("baa", "---[b1a2]"), ("aabc-a", "---[a2b1]--[c1a1]"),
      ("(aaab)!", "-[a3b1]"), ("a-----b", "---[a1]-----[b1]"),
    ])
  func `an aggregate has one sum per key, in the order in which the keys first appeared`(
    input: String, output: String
  ) {
    var player = Self.player()
    #expect(player.play(input) == output)
    #expect(player.counters.coalesced == 0)
  }

  @Test func `a key beyond the capacity causes early delivery of the sums`() {
    var player = Self.player(keyCapacity: 2)
    #expect(player.play("(aabcc)") == "[a2b1]--[c2]")
  }

  @Test func `a sum of an aggregate that would overflow is delivered early`() {
    var machine = Aggregate<String>(interval: .ticks(3))
    _ = machine.push(.max, for: "a", at: .tick(0))
    let step = machine.push(1, for: "a", at: .tick(1))
    #expect(step.output == [.init(key: "a", amount: .max, inputs: 1)])
    #expect(step.wake == .tick(4))
    #expect(machine.flush(at: .tick(2)).output == [.init(key: "a", amount: 1, inputs: 1)])
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the sums of an aggregate are exact for random streams`(seed: UInt64) {
    var stream = RandomStream(seed: seed)
    let keyCount = Int(1 + seed)
    var machine = Aggregate<Int>(interval: .ticks(5), keyCapacity: 16)
    var counters = ConservationCounters()
    var expected = Array(repeating: Int64(0), count: keyCount)
    var found = expected
    var inputs = 0

    func add(_ step: Step<[Aggregate<Int>.Sum]>) {
      counters.record(step)
      #expect(counters.isConserved && counters.pending == machine.pending)
      #expect(step.wake == machine.deadline)
      for sum in step.output ?? [] {
        found[sum.key] += sum.amount
        inputs += sum.inputs
      }
    }
    for _ in 0..<10_000 {
      let now = stream.next(disordered: true)
      let key = Int.random(in: 0..<keyCount, using: &stream.generator)
      let amount = Int64.random(in: -3...50, using: &stream.generator)
      expected[key] += amount
      if stream.oneIn(4) { add(machine.wake(at: now)) }
      counters.receive()
      add(machine.push(amount, for: key, at: now))
    }
    add(machine.flush(at: .tick(0)))
    #expect(found == expected)
    #expect(inputs == 10_000)
  }
}
