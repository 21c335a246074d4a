import RateLimiting
import Testing

@Suite struct ThrottleTests {
  static func player(_ keeping: Throttle<Character>.Kept) -> Marbles<Throttle<Character>> {
    Marbles(Throttle(interval: .ticks(3), keeping: keeping), draw: String.init) {
      machine, input, now in
      let step = input == "^" ? machine.supersede() : machine.push(input, at: now)
      return step.map { "\($0)" }
    }
  }

  @Test(
    arguments: [
      ("a", "a"), ("abc", "a--c"), ("abcdefgh", "a--c--f--h"), ("ab^", "a"), ("ab!c", "a-b--c"),
    ])
  func `a throttle that keeps the latest value delivers the newest`(input: String, output: String) {
    var player = Self.player(.latest)
    #expect(player.play(input) == output)
  }

  @Test(
    arguments: [
      ("a", "a"), ("abc", "a--b"), ("abcdefgh", "a--b--d--g"), ("a--b--c", "a--b--c"),
      ("ab^", "a"), ("ab^c", "a--c"), ("ab!c", "a-b--c"),
    ])
  func `a throttle that keeps the first value delivers the oldest`(input: String, output: String) {
    var player = Self.player(.first)
    #expect(player.play(input) == output)
  }

  @Test
  func `a throttle that keeps the first value delivers an overdue value before it keeps another`() {
    var throttle = Throttle<Int>(interval: .ticks(3), keeping: .first)
    _ = throttle.push(1, at: .tick(0))
    #expect(throttle.push(2, at: .tick(1)) == Step(wake: .tick(3)))
    #expect(throttle.push(3, at: .tick(2)) == Step(coalesced: 1, wake: .tick(3)))
    #expect(throttle.push(4, at: .tick(8)) == Step(output: 2, applied: 1, wake: .tick(11)))
    #expect(throttle.wake(at: .tick(11)) == Step(output: 4, applied: 1))
  }
}
