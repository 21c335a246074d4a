import RateLimiting
import Testing

/// Marbles: small letters are elements that may wait, capitals events that are never dropped.
@Suite struct NeverDropTests {
  /// What an owner does with both classes.
  private struct Owner: RateLimiter {
    var elements = KeepAll<Character>(interval: .ticks(3), capacity: 99)
    var pending: Int { elements.pending }
    var deadline: Instant? { elements.deadline }

    mutating func receive(_ input: Character, at now: Instant) -> Step<[Character]> {
      guard input.isUppercase else { return elements.push(input, at: now) }
      let held = elements.flush(at: now)
      let passed = NeverDrop.pass(input)
      return Step(
        output: (held.output ?? []) + (passed.output.map { [$0] } ?? []),
        applied: held.applied + passed.applied)
    }

    mutating func wake(at now: Instant) -> Step<[Character]> { elements.wake(at: now) }
    mutating func flush(at now: Instant) -> Step<[Character]> { elements.flush(at: now) }
  }

  @Test(
    "It passes at once and in order, behind what came before it",
    arguments: [
      ("A", "[A]"), ("AB", "[A][B]"), ("(AB)", "([A][B])"), ("aA", "-[aA]"),
      ("ab-A-b", "---([ab][A])----[b]"), ("abA", "--[abA]"), ("aAaA", "-[aA]-[aA]"),
      ("(aAbBc)", "([aA][bB])--[c]"), ("A--A", "[A]--[A]"),
    ])
  func order(input: String, output: String) {
    var player = Marbles(Owner(), draw: { "[" + String($0) + "]" }) { machine, input, now in
      machine.receive(input, at: now).map { "[" + String($0) + "]" }
    }
    #expect(player.play(input) == output)
    #expect(player.counters.coalesced == 0)
    #expect(player.counters.applied == input.count { $0.isLetter })
  }
}
