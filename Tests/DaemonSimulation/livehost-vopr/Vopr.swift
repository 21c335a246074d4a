import ArgumentParser
import Foundation
import Glibc

/// The command `livehost-vopr`, which simulates the daemon under faults that a seed determines.
struct Vopr: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-vopr",
    abstract: "Simulate livehostd, its clients and its disk, and check its guarantees.",
    discussion: """
      Runs the rooms, ingest connections, recorder, snapshots and recovery of livehostd with \
      virtual time, a disk in memory and simulated clients. All events depend only on the seed: \
      the same seed gives the same trace, byte for byte.

      If a seed fails, its plan is reduced and the command that repeats the failure is printed.

      Exit code 0: all guarantees hold. 1: a guarantee was broken.
      """)

  @Option(help: "The first seed.")
  var seed: UInt64 = 1

  @Option(help: "The number of consecutive seeds to run.")
  var count: UInt64 = 1

  @Option(help: "Omit these operations of the plan, by number, for example 3,5,8.")
  var without: String = ""

  @Option(help: "Omit all other operations of the plan.")
  var only: String?

  @Option(
    help: ArgumentHelp(
      "Drop syncs of files whose path contains this text.",
      discussion: "A deliberate bug, which the simulation must find.", valueName: "path"))
  var dropSyncs: String?

  @Option(
    help: ArgumentHelp(
      "Drop syncs of directories whose path contains this text.",
      valueName: "path"))
  var dropDirectorySyncs: String?

  @Option(help: "Copy the disk to this directory before each start.")
  var dump: String?

  @Flag(help: "Print the trace.")
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

  /// The processor time so far. The clock would give simulated time.
  private var processorSeconds: Double {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
  }

  /// Finds operations that are not needed to break the same invariant, and returns their numbers.
  /// Tries to omit many operations together, then fewer, then single operations.
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
