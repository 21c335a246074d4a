import RateLimiting
import TestSupport
import Testing

@Suite struct ProgressThinnerTests {
  typealias Machine = ProgressThinner<UInt64>

  /// Reports the steps of a task and returns the deliveries.
  static func deliveries(
    of completed: some Sequence<UInt64>, total: UInt64?, every interval: Interval,
    finishing: Bool = true
  ) -> [UInt64] {
    var machine = Machine()
    var counters = ConservationCounters()
    var delivered: [UInt64] = []
    var now = Instant.origin

    func add(_ step: Step<UInt64>) {
      counters.record(step)
      if let value = step.output { delivered.append(value) }
    }
    for value in completed {
      if let deadline = machine.deadline, deadline <= now { add(machine.wake(at: deadline)) }
      counters.receive()
      add(machine.push(value, completed: value, total: total, at: now))
      now = now + interval
    }
    if finishing { add(machine.finish(at: now)) }
    #expect(counters.isConserved && counters.pending == machine.pending)
    return delivered
  }

  @Test func `a million progress steps cause a hundred deliveries, one per whole percent`() {
    let delivered = Self.deliveries(
      of: 0...1_000_000, total: 1_000_000, every: .microseconds(10))
    #expect(delivered == (1...100).map { $0 * 10_000 })
  }

  @Test func `seven progress steps cause seven deliveries`() {
    #expect(Self.deliveries(of: 0...7, total: 7, every: .ticks(1)) == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test func `progress of zero out of zero is complete and is delivered once`() {
    #expect(Self.deliveries(of: [0], total: 0, every: .ticks(1)) == [0])
    #expect(Self.deliveries(of: [0, 0, 0], total: 0, every: .ticks(1)) == [0])
  }

  @Test func `finish delivers the last progress value, whether or not the task is complete`() {
    let delivered = Self.deliveries(of: 0...995_555, total: 1_000_000, every: .microseconds(1))
    #expect(delivered.count == 100)
    #expect(delivered.last == 995_555)
    #expect(Self.deliveries(of: [3], total: 1_000, every: .ticks(1)) == [3])
    #expect(Self.deliveries(of: [3], total: 1_000, every: .ticks(1), finishing: false).isEmpty)
  }

  @Test func `progress of an unknown total is delivered at most once per second, and at the end`() {
    let delivered = Self.deliveries(of: 0..<1_000_000, total: nil, every: .microseconds(10))
    #expect(delivered.count == 11)
    #expect(delivered.first == 0 && delivered.last == 999_999)
  }

  @Test func `a held progress value has a deadline only if its total is unknown`() {
    var machine = Machine()
    #expect(machine.push(1, completed: 1, total: nil, at: .tick(0)).output == 1)
    #expect(machine.push(2, completed: 2, total: nil, at: .tick(1)).wake == .tick(1_000))
    #expect(machine.push(3, completed: 3, total: 900, at: .tick(2)) == Step(coalesced: 1))
    #expect(machine.deadline == nil && machine.pending == 1)
    #expect(machine.push(9, completed: 9, total: 900, at: .tick(3)).output == 9)
  }

  @Test func `progress beyond its total is treated as progress of an unknown total`() {
    let delivered = Self.deliveries(of: 1...5_000, total: 1_000, every: .ticks(1))
    #expect(delivered.prefix(100).elementsEqual((1...100).map { $0 * 10 }))
    #expect(delivered.count <= 100 + 5)
    #expect(delivered.last == 5_000)
  }

  @Test func `totals near the integer limit do not overflow`() {
    var machine = Machine()
    #expect(machine.push(1, completed: .max / 2, total: .max, at: .tick(0)).output == 1)
    #expect(machine.push(2, completed: .max - 1, total: .max, at: .tick(0)).output == 2)
    #expect(machine.push(3, completed: .max, total: .max, at: .tick(0)).output == 3)
  }

  @Test func `progress values that arrive out of order do not count as a restart`() {
    var generator = SplitMix64(seed: 5)
    let steps = (0...100_000 as ClosedRange<UInt64>).map { step in
      step < 5_000 || step == 100_000
        ? step : step - UInt64.random(in: 0...4_000, using: &generator)
    }
    let delivered = Self.deliveries(of: steps, total: 100_000, every: .microseconds(100))
    #expect(delivered.count <= 100)
    #expect(delivered.last == 100_000)
    let rises = zip(delivered, delivered.dropFirst()).allSatisfy { $0 < $1 }
    #expect(rises)
  }

  @Test func `progress that falls and stays low begins a new task`() {
    var machine = Machine()
    _ = machine.push(60, completed: 60, total: 100, at: .tick(0))
    #expect(machine.push(0, completed: 0, total: 100, at: .tick(5)) == Step(wake: .tick(1_005)))
    #expect(machine.push(1, completed: 1, total: 100, at: .tick(6)).coalesced == 1)
    #expect(machine.wake(at: .tick(1_004)).output == nil)
    #expect(machine.wake(at: .tick(1_005)).output == 1)
    #expect(machine.push(2, completed: 2, total: 100, at: .tick(1_006)).output == 2)
  }

  @Test func `progress of a second task is delivered within an interval after a complete task`() {
    var machine = Machine()
    #expect(machine.push(10, completed: 10, total: 10, at: .tick(0)).output == 10)
    #expect(machine.push(10, completed: 10, total: 10, at: .tick(1)) == Step(coalesced: 1))
    #expect(machine.push(1, completed: 1, total: 10, at: .tick(2)).wake == .tick(1_002))
    #expect(machine.push(10, completed: 10, total: 10, at: .tick(3)).wake == .tick(1_002))
    #expect(machine.wake(at: .tick(1_002)).output == 10)
  }

  @Test func `after finish, the percentages of the next task are delivered from the start`() {
    var machine = Machine()
    _ = machine.push(10, completed: 10, total: 10, at: .tick(0))
    _ = machine.finish(at: .tick(1))
    #expect(machine.push(1, completed: 1, total: 10, at: .tick(2)).output == 1)
  }

  @Test func `a growing total belongs to the same task, with the same limit of deliveries`() {
    var machine = Machine()
    var delivered = 0
    var now = Instant.origin
    for step in 1...40_000 as ClosedRange<UInt64> {
      // The total doubles whenever it is nearly reached, so the percentage drops repeatedly.
      var total: UInt64 = 64
      while total * 9 / 10 <= step { total *= 2 }
      if machine.push(step, completed: step, total: total, at: now).output != nil {
        delivered += 1
      }
      now = now + .ticks(10)
      if machine.wake(at: now).output != nil { delivered += 1 }
    }
    #expect(delivered < 100)
    #expect(machine.finish(at: now).output == 40_000)
  }

  @Test func `a progress value that is replaced counts as coalesced`() {
    var machine = Machine()
    _ = machine.push(1, completed: 1, total: 1_000, at: .tick(0))
    #expect(machine.supersede() == Step(coalesced: 1))
    #expect(machine.supersede() == Step())
    #expect(machine.finish(at: .tick(1)) == Step())
  }

  @Test(
    arguments: 1...60 as ClosedRange<UInt64>)
  func `all steps of random progress are counted, few are delivered, and the last one always is`(
    seed: UInt64
  ) {
    var stream = RandomStream(seed: seed)
    var machine = Machine()
    var counters = ConservationCounters()
    for _ in 0..<5 {
      let total = UInt64.random(in: 0...5_000, using: &stream.generator)
      var now = Instant.origin
      var delivered: [UInt64] = []

      func add(_ step: Step<UInt64>) {
        counters.record(step)
        #expect(counters.isConserved && counters.pending == machine.pending)
        #expect(step.wake == machine.deadline)
        if let value = step.output { delivered.append(value) }
      }
      var last: UInt64 = 0
      let end = stream.oneIn(3) ? total / 2 : total
      while last < end {
        now = stream.next(disordered: true)
        last = min(end, last + UInt64.random(in: 0...7, using: &stream.generator))
        if stream.oneIn(2) { add(machine.wake(at: now)) }
        counters.receive()
        add(machine.push(last, completed: last, total: total, at: now))
      }
      add(machine.finish(at: now))
      #expect(machine.pending == 0)
      #expect(delivered.count <= 100)
      #expect(end == 0 || delivered.last == end)
    }
  }
}

/// In the marbles, a digit is a step of a task with eight steps, `?` a step with an unknown total,
/// and `|` the end of the task.
@Suite struct ProgressMarbleTests {
  private func play(_ input: String) -> (output: String, counters: ConservationCounters) {
    var unknown: UInt64 = 0
    var player = Marbles(ProgressThinner<Character>(interval: .ticks(3)), draw: { String($0) }) {
      machine, input, now in
      let drawn: (Character) -> String = { String($0) }
      if input == "|" { return machine.finish(at: now).map(drawn) }
      if input == "?" {
        unknown += 1
        return machine.push(input, completed: unknown, total: nil, at: now).map(drawn)
      }
      let step = UInt64(input.hexDigitValue ?? 0)
      return machine.push(input, completed: step, total: 8, at: now).map(drawn)
    }
    let output = player.play(input)
    return (output, player.counters)
  }

  @Test(
    arguments: [
      // A step that does not reach a new percentage is replaced by the next step.
      ("12345678", "12345678"), ("1122-8", "1-2--8"), ("(12)8", "(12)8"), ("8--8", "8"),
      ("?", "?"), ("??????", "?--?--?"), ("?--?", "?--?"), ("?-?-----?", "?--?----?"),
      ("(??|)", "(??)"), ("1|", "1"), ("11|", "1-1"), ("?|--?", "?---?"),
    ])
  func `progress of a known total is delivered per percent, of an unknown total per interval`(
    input: String, output: String
  ) {
    let played = play(input)
    #expect(played.output == output)
    #expect(played.counters.pending == 0)
  }
}
