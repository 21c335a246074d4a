import RateLimiting
import TestSupport
import Testing

@Suite struct KeyedLatestWinsTests {
  typealias Machine = KeyedLatestWins<Character, Character>

  /// A letter is a value of its lower-case key: `a` and `A` are two values of the key `a`.
  static func player(keyCapacity: Int = 100) -> Marbles<Machine> {
    Marbles(Machine(interval: .ticks(3), keyCapacity: keyCapacity), draw: draw) {
      machine, input, now in
      let step =
        input == "^"
        ? machine.supersede("a") : machine.push(input, for: key(of: input), at: now)
      return step.map { "\($0.value)" }
    }
  }

  static func draw(_ batch: Machine.Output) -> String { "[" + String(batch.map(\.value)) + "]" }

  static func key(of value: Character) -> Character { value.lowercased().first ?? value }

  @Test(
    arguments: [
      ("a", "a"), ("aA", "a--[A]"), ("ab", "ab"), ("(ab)(BA)", "(ab)--[AB]"),
      ("aAbB", "a-b[A]-[B]"), ("aAbB!", "a-b[A][B]"), ("(aA)^", "a"), ("(aAbB)^", "(ab)--[B]"),
      ("(baB)A", "(ba)--[BA]"),
    ])
  func `every key has its own windows, and values due together form one batch in key order`(
    input: String, output: String
  ) {
    var player = Self.player()
    #expect(player.play(input) == output)
    #expect(player.counters.pending == 0)
  }

  @Test func `values of keys beyond the capacity are delivered immediately`() {
    var player = Self.player(keyCapacity: 2)
    #expect(player.play("(abcCaA)") == "(abcC)--[A]")
    #expect(player.counters.coalesced == 1)
  }

  @Test func `the value of a single key can be flushed`() {
    var machine = Machine(interval: .ticks(3))
    for value in "abAB" { _ = machine.push(value, for: Self.key(of: value), at: .tick(0)) }
    let step = machine.flush("b", at: .tick(1))
    #expect(step.output == Keyed(key: "b", value: "B"))
    #expect(step.wake == .tick(3))
    #expect(machine.flush("b", at: .tick(1)).output == nil)
    #expect(machine.flush("z", at: .tick(1)).output == nil)
    #expect(machine.pending == 1)
  }

  @Test func `keys without recent values are removed, so that clients cannot fill the memory`() {
    var machine = KeyedLatestWins<Int, Int>(interval: .ticks(3), keyCapacity: 64)
    for key in 0..<100_000 {
      let now = Instant.tick(Int64(key))
      #expect(machine.push(key, for: key, at: now).output == Keyed(key: key, value: key))
    }
    // If the old keys were kept, there would be no capacity, and the second value would be
    // delivered immediately.
    #expect(machine.push(1, for: 99_999, at: .tick(100_000)).output == nil)
  }

  @Test(
    arguments: 1...30 as ClosedRange<UInt64>)
  func `each key behaves as if it had a separate throttle`(seed: UInt64) {
    var stream = RandomStream(seed: seed)
    let keyCount = Int(1 + seed)
    let interval = Interval.ticks(2)
    var machine = KeyedLatestWins<String, Int>(interval: interval)
    var models: [LatestWins<Int>] = Array(
      repeating: LatestWins(interval: interval), count: keyCount)
    var names: [String: Int] = [:]
    for key in 0..<keyCount { names["key\(key)"] = key }
    var counters = ConservationCounters()

    for value in 0..<1_000 {
      // Beyond this number of keys, keys at rest are removed, which becomes visible when time goes
      // back.
      let now = stream.next(disordered: keyCount <= 16)
      if stream.oneIn(2) {
        let step = machine.wake(at: now)
        counters.record(step)
        var expected: [Int: Int] = [:]
        for key in models.indices {
          if let value = models[key].wake(at: now).output { expected[key] = value }
        }
        var found: [Int: Int] = [:]
        for delivery in step.output ?? [] { found[names[delivery.key] ?? -1] = delivery.value }
        #expect(found == expected)
      }
      let key = Int.random(in: 0..<keyCount, using: &stream.generator)
      counters.receive()
      let step = machine.push(value, for: "key\(key)", at: now)
      counters.record(step)
      let expected = models[key].push(value, at: now)
      #expect(step.output?.value == expected.output)
      #expect(step.coalesced == expected.coalesced)
      if stream.oneIn(20) {
        let key = Int.random(in: 0..<keyCount, using: &stream.generator)
        counters.record(machine.supersede("key\(key)"))
        _ = models[key].supersede()
      }
      #expect(machine.deadline == models.compactMap(\.deadline).min())
      #expect(machine.pending == models.reduce(0) { $0 + $1.pending })
      #expect(counters.isConserved && counters.pending == machine.pending)
    }
  }
}
