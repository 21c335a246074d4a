package import HangSimulation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// The options of `simulate`.
package struct SimulateOptions: ParsableArguments {
  package static let abstract =
    "Run each variant on each device and report the longest turns and their causes."

  @Option(help: ArgumentHelp("Use this seed.", valueName: "n"))
  package var seed: UInt64?
  @Option(help: ArgumentHelp("Write a trace for Perfetto.", valueName: "file"), completion: .file())
  package var trace: String?
  @Option(
    help: ArgumentHelp("Write the report as an HTML page with charts.", valueName: "file"),
    completion: .file())
  package var html: String?
  @OptionGroup package var costs: CostOptions
  @Flag(
    name: .customLong("check-determinism"),
    help: "Run twice and compare everything except measured figures.")
  package var checkDeterminism = false

  package init() {}

  package func validate() throws {
    guard checkDeterminism else { return }
    try costs.refuseMeasured(
      "measured figures differ from run to run; remove --check-determinism")
  }

  /// Runs a plan, and writes its page and trace.
  package func run(
    _ plan: SimulationPlan, progress: (_ percent: Int) -> Void
  ) async throws -> CommandOutcome {
    var plan = plan
    if let seed { plan.seed = seed }
    costs.apply(to: &plan, repeats: 5)
    let (found, note) = try await checked(progress) { [plan] progress in
      let outcome = try await plan.run(wantsTrace: trace != nil, progress: progress)
      return (Forms(outcome, wantsPage: html != nil), outcome.report.digest)
    }
    try write(page: found.page, trace: found.trace)
    var outcome = found.outcome
    if let note { outcome.notes.append(note) }
    return outcome
  }

  package func write(page: String?, trace text: String?) throws {
    if let html, let page { try ReportFiles.write(page, to: html) }
    if let trace, let text { try ReportFiles.write(text, to: trace) }
  }

  /// Runs once, or twice to compare the results. Also returns a note about the comparison.
  package func checked<Found: Equatable>(
    _ progress: (_ percent: Int) -> Void,
    _ once: @escaping (_ progress: (_ percent: Int) -> Void) async throws -> (Found, digest: String)
  ) async throws -> (Found, note: String?) {
    guard checkDeterminism else { return (try await once(progress).0, nil) }
    let (first, digest) = try await once { progress($0 / 2) }
    let (second, other) = try await once { progress(50 + $0 / 2) }
    guard first == second else {
      throw FileProblem(
        description: "two runs of the same input differ: digests \(digest) and \(other)")
    }
    return (first, "two runs agree, digest \(digest)")
  }

  /// All outputs of a run.
  private struct Forms: Equatable {
    let report: SimulationReport
    let outcome: CommandOutcome
    let page: String?
    let trace: String?

    init(_ found: SimulationOutcome, wantsPage: Bool) {
      report = found.report
      outcome = CommandOutcome(found.report)
      page = wantsPage ? found.report.html : nil
      trace = found.trace
    }

    /// Compares the reports and traces, from which all other outputs are derived. Reports that
    /// differ only in measured figures are equal.
    static func == (left: Self, right: Self) -> Bool {
      left.report == right.report && left.trace == right.trace
    }
  }
}
