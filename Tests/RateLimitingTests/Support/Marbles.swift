import RateLimiting
import TestSupport
import Testing

/// Plays input marbles into a limiter in virtual time and returns output marbles.
///
/// One column is one tick (a millisecond). In the input, `-` is a tick without input, `!` flushes,
/// and every other character is passed to `apply`; `(ab)` are several inputs in one tick. In the
/// output, `-` is a tick without delivery, and `(..)` are several deliveries in one tick; trailing
/// `-` are omitted. `draw` draws a batch. Spaces are ignored. In each tick, the wake precedes the
/// input. When the input ends, time continues until the limiter has no deadline.
///
/// After every step the player checks the properties of all limiters: every input is accounted for,
/// the step's wake is the limiter's deadline, and a wake before the deadline has no effect.
struct Marbles<Machine: RateLimiter> {
  var machine: Machine
  let draw: (Machine.Output) -> String
  let apply: (inout Machine, Character, Instant) -> Step<String>
  private(set) var counters = ConservationCounters()

  /// A limiter that waits longer than this waits forever.
  private static var tickLimit: Int64 { 1_000 }

  init(
    _ machine: Machine, draw: @escaping (Machine.Output) -> String,
    apply: @escaping (inout Machine, Character, Instant) -> Step<String>
  ) {
    self.machine = machine
    self.draw = draw
    self.apply = apply
  }

  mutating func play(_ input: String, inputsThatAreCommands commands: String = "^|") -> String {
    var columns: [String] = []
    var tick: Int64 = 0
    var rest = Self.columns(of: input)[...]
    while !rest.isEmpty || machine.deadline != nil {
      let now = Instant.tick(tick)
      var delivered: [String] = []
      add(machine.wake(at: now).map(draw), into: &delivered)
      for character in rest.popFirst() ?? [] {
        if character == "!" {
          add(machine.flush(at: now).map(draw), into: &delivered)
          #expect(machine.pending == 0, "a flush leaves nothing")
        } else {
          if !commands.contains(character) { counters.receive() }
          add(apply(&machine, character, now), into: &delivered)
        }
      }
      if let deadline = machine.deadline {
        #expect(now < deadline, "no due value is left undelivered")
        #expect(machine.wake(at: now).output == nil, "a wake before the deadline delivers nothing")
      }
      switch delivered.count {
      case 0: columns.append("-")
      case 1: columns.append(delivered[0])
      default: columns.append("(" + delivered.joined() + ")")
      }
      tick += 1
      if tick == Self.tickLimit {
        Issue.record("the limiter still waits at \(machine.deadline as Any)")
        break
      }
    }
    while columns.last == "-" { columns.removeLast() }
    return columns.joined()
  }

  private mutating func add(_ step: Step<String>, into delivered: inout [String]) {
    counters.record(step)
    if let output = step.output { delivered.append(output) }
    #expect(counters.isConserved)
    #expect(counters.pending == machine.pending)
    #expect(step.wake == machine.deadline)
  }

  private static func columns(of input: String) -> [[Character]] {
    var columns: [[Character]] = []
    var group: [Character]?
    for character in input where character != " " {
      switch character {
      case "(": group = []
      case ")":
        columns.append(group ?? [])
        group = nil
      case "-" where group == nil: columns.append([])
      default:
        if group == nil { columns.append([character]) } else { group?.append(character) }
      }
    }
    return columns
  }
}

extension Step {
  /// Returns the step with another form of its output.
  func map<Other>(_ transform: (Output) -> Other) -> Step<Other> {
    Step<Other>(
      output: output.map(transform), applied: applied, coalesced: coalesced, wake: wake)
  }
}

extension Instant {
  /// Makes the start of a column of marbles.
  static func tick(_ count: Int64) -> Instant { .origin + .ticks(count) }
}

extension Interval {
  /// Makes an interval of this number of columns of marbles.
  static func ticks(_ count: Int64) -> Interval { .milliseconds(count) }
}
