import RateLimiting
import TestSupport
import Testing

/// Plays input marbles into a machine on virtual time and returns output marbles.
///
/// One column is one tick (a millisecond). In the input `-` is a tick without input, `!` flushes,
/// every other character is given to `apply`; `(ab)` are several inputs in one tick. In the output
/// `-` is a tick without delivery, `(..)` are several deliveries in one tick; trailing `-` are left
/// out. A batch is drawn by `draw`. Spaces are ignored. At a tick the wake comes before the input.
/// When the input ends, time continues until the machine waits for nothing.
///
/// After every step the marbles' player checks what holds for all machines: conservation, that the
/// step's wake is the machine's deadline, and that a wake before the deadline changes nothing.
struct Marbles<Machine: RateLimiter> {
  var machine: Machine
  let draw: (Machine.Output) -> String
  let apply: (inout Machine, Character, Instant) -> Step<String>
  private(set) var counters = ConservationCounters()

  /// A machine that waits longer than this waits for ever.
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
      note(machine.wake(at: now).map(draw), into: &delivered)
      for character in rest.popFirst() ?? [] {
        if character == "!" {
          note(machine.flush(at: now).map(draw), into: &delivered)
          #expect(machine.pending == 0, "a flush leaves nothing")
        } else {
          if !commands.contains(character) { counters.receive() }
          note(apply(&machine, character, now), into: &delivered)
        }
      }
      if let deadline = machine.deadline {
        #expect(now < deadline, "what is due is delivered")
        #expect(machine.wake(at: now).output == nil, "a wake before the deadline delivers nothing")
      }
      switch delivered.count {
      case 0: columns.append("-")
      case 1: columns.append(delivered[0])
      default: columns.append("(" + delivered.joined() + ")")
      }
      tick += 1
      if tick == Self.tickLimit {
        Issue.record("the machine still waits at \(machine.deadline as Any)")
        break
      }
    }
    while columns.last == "-" { columns.removeLast() }
    return columns.joined()
  }

  private mutating func note(_ step: Step<String>, into delivered: inout [String]) {
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
  /// The same step with another form of its output.
  func map<Other>(_ transform: (Output) -> Other) -> Step<Other> {
    Step<Other>(
      output: output.map(transform), applied: applied, coalesced: coalesced, wake: wake)
  }
}

extension Instant {
  /// The start of a column of marbles.
  static func tick(_ count: Int64) -> Instant { .origin + .ticks(count) }
}

extension Interval {
  /// So many columns of marbles.
  static func ticks(_ count: Int64) -> Interval { .milliseconds(count) }
}
