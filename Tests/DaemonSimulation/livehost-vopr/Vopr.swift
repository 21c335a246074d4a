import ArgumentParser
import Glibc

/// Runs the daemon through its worst days, by the seed.
struct Vopr: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-vopr",
    abstract: "Simulate livehostd, its clients and its disk, and check what it promises.",
    discussion: """
      Runs the rooms, the ingest connections, the recorder, the snapshots and the recovery of livehostd on virtual \
      time, a disk in memory and clients that are not there. What happens is decided by the seed alone: the same \
      seed gives the same trace, byte for byte.

      A seed that fails is shrunk, and one line is printed that runs it again.

      Exit code 0: all promises were kept. 1: one was not.
      """)

  @Option(help: "The first seed.")
  var seed: UInt64 = 1

  @Option(help: "How many seeds are run, one after the other.")
  var count: UInt64 = 1

  @Option(help: "Leave out these operations of the plan, by their numbers, for instance 3,5,8.")
  var without: String = ""

  @Flag(help: "Print what happens, line by line.")
  var trace = false

  @Flag(help: "Print one line for each seed.")
  var each = false

  func run() throws {
    let omitted = Set(without.split(separator: ",").compactMap { Int($0) })
    for seed in seed..<seed + count {
      let plan = Plan(seed: seed)
      let simulation = Simulation(plan.without(omitted), trace: Trace(prints: trace))
      simulation.run()
      if each || trace {
        print("seed \(seed): \(simulation.trace.lines) lines, digest \(simulation.trace.digest)")
      }
      if let violation = simulation.violation {
        print("seed \(seed) broke a promise: \(violation.invariant.rawValue): \(violation.detail)")
        guard !trace else { throw ExitCode(1) }
        fflush(nil)
        let rest = shrink(plan, omitted, breaking: violation.invariant)
        let list = rest.sorted().map(String.init).joined(separator: ",")
        print(
          "try: livehost-vopr --seed \(seed)\(rest.isEmpty ? "" : " --without \(list)") --trace")
        throw ExitCode(1)
      }
    }
  }

  /// Leaves out what is not needed for breaking the same promise: many operations at once, then fewer, then single
  /// ones. Returns the numbers of those that are left out.
  private func shrink(
    _ plan: Plan, _ omitted: Set<Int>, breaking invariant: Model.Invariant
  ) -> Set<Int> {
    var omitted = omitted
    let numbers = plan.lives.flatMap { $0.operations.map(\.number) }
    var size = numbers.count
    while size > 1 {
      size = (size + 1) / 2
      for start in stride(from: 0, to: numbers.count, by: size) {
        let more = omitted.union(numbers[start..<min(start + size, numbers.count)])
        guard more != omitted else { continue }
        let simulation = Simulation(plan.without(more), trace: Trace(prints: false))
        simulation.run()
        if simulation.violation?.invariant == invariant { omitted = more }
      }
    }
    return omitted
  }
}
