import RateLimiting
import TestSupport
import Testing

@Suite struct DebounceTests {
  static func player(maximumDelay: Interval? = nil) -> Marbles<Debounce<Character>> {
    Marbles(Debounce(pause: .ticks(3), maximumDelay: maximumDelay), draw: String.init) {
      machine, input, now in
      let step = input == "^" ? machine.supersede() : machine.push(input, at: now)
      return step.map { "\($0)" }
    }
  }

  @Test(
    arguments: [
      ("a", "---a", 0), ("abc", "-----c", 2), ("a--b", "---a--b", 0), ("a-b", "-----b", 1),
      ("a---b", "---a---b", 0),
      ("(ab)", "---b", 1), ("ab!", "--b", 1), ("ab^", "", 2), ("a-b-c-d-e", "-----------e", 4),
    ])
  func `a debounce delivers the newest value after a pause`(
    input: String, output: String, coalesced: Int
  ) {
    var player = Self.player()
    #expect(player.play(input) == output)
    #expect(player.counters.coalesced == coalesced)
  }

  @Test(
    arguments: [
      ("a-b-c-d-e", "-----c-----e", 3), ("a", "---a", 0), ("abcdefgh", "-----e----h", 6),
    ])
  func `a debounce of a stream without pauses delivers a value within the maximum delay`(
    input: String, output: String, coalesced: Int
  ) {
    var player = Self.player(maximumDelay: .ticks(5))
    #expect(player.play(input) == output)
    #expect(player.counters.coalesced == coalesced)
  }

  @Test func `a debounce delivers an overdue value before it holds the next value`() {
    var debounce = Debounce<Int>(pause: .ticks(3))
    _ = debounce.push(1, at: .tick(0))
    #expect(debounce.push(2, at: .tick(9)) == Step(output: 1, applied: 1, wake: .tick(12)))
  }
}
