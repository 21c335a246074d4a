import RateLimiting
import TestSupport
import Testing

@Suite struct KeepAllTests {
  static func player(capacity: Int = 4) -> Marbles<KeepAll<Character>> {
    Marbles(KeepAll(interval: .ticks(3), capacity: capacity), draw: draw) {
      machine, input, now in
      machine.push(input, at: now).map(draw)
    }
  }

  static func draw(_ batch: [Character]) -> String { "[" + String(batch) + "]" }

  @Test(
    arguments: [
      ("a", "---[a]"), ("ab", "---[ab]"), ("abc-d", "---[abc]---[d]"), ("abcd", "---[abc]--[d]"),
      ("(abcd)", "[abcd]"), ("(abcdefghij)", "([abcd][efgh])--[ij]"), ("ab!c", "--[ab]---[c]"),
      ("abcdefg", "---[abc]--[def]--[g]"),
    ])
  func `elements are delivered in batches, and a full batch is delivered early`(
    input: String, output: String
  ) {
    var player = Self.player()
    #expect(player.play(input) == output)
    #expect(player.counters.coalesced == 0)
  }

  @Test func `an overdue batch of elements is delivered with the next element`() {
    var machine = KeepAll<Int>(interval: .ticks(3), capacity: 10)
    _ = machine.push(1, at: .tick(0))
    #expect(machine.push(2, at: .tick(5)) == Step(output: [1, 2], applied: 2))
    #expect(machine.deadline == nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `no element is lost, duplicated or reordered by a throttle that keeps all`(seed: UInt64) {
    var stream = RandomStream(seed: seed)
    var machine = KeepAll<Int>(interval: .ticks(2), capacity: Int(3 + seed))
    var counters = ConservationCounters()
    var delivered: [Int] = []

    func add(_ step: Step<[Int]>) {
      counters.record(step)
      #expect(counters.isConserved && counters.pending == machine.pending)
      #expect(machine.pending < machine.capacity)
      delivered += step.output ?? []
    }
    for value in 0..<2_000 {
      let now = stream.next(disordered: true)
      if stream.oneIn(3) { add(machine.wake(at: now)) }
      if stream.oneIn(50) { add(machine.flush(at: now)) }
      counters.receive()
      add(machine.push(value, at: now))
    }
    add(machine.flush(at: .tick(0)))
    #expect(delivered == Array(0..<2_000))
    #expect(counters.applied == 2_000)
  }
}
