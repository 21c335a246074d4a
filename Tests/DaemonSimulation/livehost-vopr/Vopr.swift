import ArgumentParser
import Foundation
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

  @Option(help: "Leave out all operations of the plan but these.")
  var only: String?

  @Option(
    help: ArgumentHelp(
      "Let the disk do nothing when it is to sync what has this in its path.",
      discussion: "A bug planted on purpose, which must be found.", valueName: "path"))
  var dropSyncs: String?

  @Option(
    help: ArgumentHelp(
      "Let the disk do nothing when it is to sync directories with this in their path.",
      valueName: "path"))
  var dropDirectorySyncs: String?

  @Option(help: "A directory into which the disk is copied before each start.")
  var dump: String?

  @Flag(help: "Print what happens, line by line.")
  var trace = false

  @Flag(help: "Print one line for each seed.")
  var each = false

  private var omission: Omission? {
    dropSyncs.map { Omission(calls: .syncs, path: $0) }
      ?? dropDirectorySyncs.map { Omission(calls: .directorySyncs, path: $0) }
  }

  func run() throws {
    var (tally, simulated) = (Tally(), UInt64(0))
    for seed in seed..<seed + count {
      let plan = Plan(seed: seed)
      var omitted = Set(numbers(without))
      if let only { omitted.formUnion(plan.numbers.subtracting(numbers(only))) }
      let simulation = simulate(plan.without(omitted), Trace(prints: trace), dump: dump)
      simulated += simulation.duration
      tally.add(simulation)
      if each || trace {
        print("seed \(seed): \(simulation.trace.lines) lines, digest \(simulation.trace.digest)")
      }
      if let violation = simulation.violation {
        print("seed \(seed) broke a promise: \(violation.invariant.rawValue): \(violation.detail)")
        guard !trace else { throw ExitCode(1) }
        fflush(nil)
        let rest = plan.numbers.subtracting(shrink(plan, omitted, breaking: violation.invariant))
        let list = rest.sorted().map(String.init).joined(separator: ",")
        print("try: livehost-vopr --seed \(seed) --only \"\(list)\" --trace")
        throw ExitCode(1)
      }
    }
    guard count > 1 else { return }
    tally.print()
    let days = Double(simulated) / 86_400e9
    print(
      "\(count) seeds, \(format(days, 3)) simulated days in \(format(processorSeconds, 1)) s of a processor:",
      "\(format(days / processorSeconds * 3_600, 1)) days an hour")
  }

  private func simulate(_ plan: Plan, _ trace: Trace, dump: String? = nil) -> Simulation {
    let simulation = Simulation(plan, trace: trace, omitting: omission)
    simulation.dump = dump
    simulation.run()
    return simulation
  }

  private func numbers(_ list: String) -> [Int] {
    list.split(separator: ",").compactMap { Int($0) }
  }

  private func format(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }

  /// Not by the clock, which is the simulation's.
  private var processorSeconds: Double {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
  }

  /// Leaves out what is not needed for breaking the same promise: many operations at once, then fewer, then single
  /// ones. Returns the numbers of those that are left out.
  private func shrink(
    _ plan: Plan, _ omitted: Set<Int>, breaking invariant: Model.Invariant
  ) -> Set<Int> {
    var omitted = omitted
    let numbers = plan.numbers.sorted()
    var size = numbers.count
    while size > 1 {
      size = (size + 1) / 2
      for start in stride(from: 0, to: numbers.count, by: size) {
        let more = omitted.union(numbers[start..<min(start + size, numbers.count)])
        guard more != omitted else { continue }
        let simulation = simulate(plan.without(more), Trace(prints: false))
        if simulation.violation?.invariant == invariant { omitted = more }
      }
    }
    return omitted
  }
}
