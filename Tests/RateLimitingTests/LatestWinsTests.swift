import RateLimiting
import TestSupport
import Testing

@Suite struct LatestWinsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let input: String
    let output: String
    var coalesced = 0
    var testDescription: String { input }
  }

  static func player(leading: Bool = true) -> Marbles<LatestWins<Character>> {
    Marbles(LatestWins(interval: .ticks(3), leading: leading), draw: String.init) {
      machine, input, now in
      let step = input == "^" ? machine.supersede() : machine.push(input, at: now)
      return step.map { "\($0)" }
    }
  }

  @Test(
    arguments: [
      Case(input: "a", output: "a"),
      Case(input: "ab", output: "a--b"),
      Case(input: "abc", output: "a--c", coalesced: 1),
      Case(input: "a--b--c", output: "a--b--c"),
      Case(input: "abcdefgh", output: "a--c--f--h", coalesced: 4),
      Case(input: "(abc)", output: "a--c", coalesced: 1),
      Case(input: "ab------c", output: "a--b----c"),
      Case(input: "ab---c", output: "a--b--c"),
      Case(input: "---a-b-c", output: "---a--b--c"),
      Case(input: "ab!", output: "a-b"),
      Case(input: "ab!c", output: "a-b--c"),
      Case(input: "a!", output: "a"),
      Case(input: "ab^", output: "a", coalesced: 1),
      Case(input: "ab^c", output: "a--c", coalesced: 1),
      Case(input: "(abc)^----d", output: "a-----d", coalesced: 2),
      Case(input: "^a^", output: "-a"),
    ])
  func `the first value is delivered immediately, and then the newest after each interval`(
    _ example: Case
  ) {
    var player = Self.player()
    #expect(player.play(example.input) == example.output)
    #expect(player.counters.coalesced == example.coalesced)
    #expect(player.counters.pending == 0)
  }

  @Test(
    arguments: [
      Case(input: "a", output: "---a"),
      Case(input: "abc", output: "---c", coalesced: 2),
      Case(input: "abcdef", output: "---c--f", coalesced: 4),
      Case(input: "a------b", output: "---a------b"),
    ])
  func `without immediate delivery of the first value, each value waits for its window to end`(
    _ example: Case
  ) {
    var player = Self.player(leading: false)
    #expect(player.play(example.input) == example.output)
    #expect(player.counters.coalesced == example.coalesced)
  }

  @Test func `a value pushed after an overdue deadline is delivered instead of the held value`() {
    var machine = LatestWins<Int>(interval: .ticks(3))
    _ = machine.push(1, at: .tick(0))
    #expect(machine.push(2, at: .tick(1)) == Step(wake: .tick(3)))
    #expect(machine.push(3, at: .tick(9)) == Step(output: 3, applied: 1, coalesced: 1))
    #expect(machine.pending == 0)
    #expect(machine.push(4, at: .tick(11)) == Step(wake: .tick(12)))
  }

  @Test func `a new throttle interval does not change the deadline of a held value`() {
    var machine = LatestWins<Int>(interval: .ticks(3))
    _ = machine.push(1, at: .tick(0))
    _ = machine.push(2, at: .tick(1))
    machine.interval = .ticks(100)
    #expect(machine.deadline == .tick(3))
    #expect(machine.wake(at: .tick(3)).output == 2)
    #expect(machine.push(3, at: .tick(4)).wake == .tick(103))
  }

  @Test func `timestamps at the ends of their range do not trap`() {
    var machine = LatestWins<Int>(interval: .seconds(3_600))
    let end = Instant(nanoseconds: .max)
    let start = Instant(nanoseconds: .min)
    #expect(machine.push(1, at: end).output == 1)
    #expect(machine.push(2, at: start).wake == end)
    #expect(machine.push(3, at: end) == Step(output: 3, applied: 1, coalesced: 1))
  }

  @Test(
    arguments: 1...40 as ClosedRange<UInt64>)
  func `random streams deliver at most one new value per interval, and the last value`(
    seed: UInt64
  ) {
    var stream = RandomStream(seed: seed)
    let interval = Interval.ticks(Int64(1 + seed % 17))
    var machine = LatestWins<Int>(interval: interval)
    var counters = ConservationCounters()
    var pushed: [Instant] = []
    var deliveries: [(value: Int, at: Instant)] = []

    func add(_ step: Step<Int>, at now: Instant) {
      counters.record(step)
      #expect(counters.isConserved && counters.pending == machine.pending)
      #expect(step.wake == machine.deadline)
      if let value = step.output { deliveries.append((value, now)) }
    }
    for value in 0..<2_000 {
      let now = stream.next()
      if let deadline = machine.deadline, deadline <= now {
        add(machine.wake(at: deadline), at: deadline)
      }
      pushed.append(now)
      counters.receive()
      add(machine.push(value, at: now), at: now)
    }
    if let deadline = machine.deadline { add(machine.wake(at: deadline), at: deadline) }
    #expect(machine.deadline == nil)

    #expect(deliveries.last?.value == pushed.indices.last)
    #expect(counters.pending == 0 && counters.applied == deliveries.count)
    for (earlier, later) in zip(deliveries, deliveries.dropFirst()) {
      #expect(later.at - earlier.at >= interval)
      #expect(later.value > earlier.value)
    }
    // Staleness: within one interval, each input or a newer one is delivered.
    var next = deliveries[...]
    for (value, at) in pushed.enumerated() {
      while let first = next.first, first.value < value { next.removeFirst() }
      #expect(next.first.map { $0.at - at <= interval } == true)
    }
  }
}
