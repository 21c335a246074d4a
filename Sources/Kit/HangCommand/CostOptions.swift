import HangSimulation

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

/// Whether runs are repeated with costs that are measured meanwhile.
package struct CostOptions: ParsableArguments {
  /// What actions and evaluations cost.
  enum Costs: String, ExpressibleByArgument, CaseIterable { case assumed, measured }

  @Option(
    help: ArgumentHelp(
      """
      What actions and evaluations cost: 'assumed' is what the device says. With 'measured', each run is repeated with what \
      the real code takes on this machine times the slowdown of the device, and the report shows both side by side. \
      Thresholds are checked with the assumed costs.
      """, valueName: "costs"))
  var costs = Costs.assumed
  @Option(
    help: ArgumentHelp(
      "With --costs measured, how often each run is repeated. Default: 5; of 'sweep' once for each seed.",
      valueName: "n"))
  var repeats: Int?

  package init() {}

  package var areMeasured: Bool { costs == .measured }

  package func validate() throws {
    guard let repeats else { return }
    guard areMeasured else { throw ValidationError("--repeats belongs to --costs measured") }
    guard (1...1_000).contains(repeats) else {
      throw ValidationError("--repeats is from 1 to 1000")
    }
  }

  /// - Parameter repeats: how often each run is repeated, if the command line does not say.
  func apply(to plan: inout SimulationPlan, repeats: Int) {
    if areMeasured { plan.measuredRepeats = self.repeats ?? repeats }
  }

  /// Refuses measured costs.
  ///
  /// - Parameter reason: why, and what to do.
  /// - Throws: `ValidationError`.
  package func refuseMeasured(_ reason: String) throws {
    if areMeasured { throw ValidationError("--costs measured: \(reason)") }
  }
}

/// For verbs that have no measured costs: says so, in place of an unknown option.
package struct NoCostOptions: ParsableArguments {
  @Option(help: .hidden) var costs: String?

  package init() {}

  package func validate() throws {
    guard costs != nil else { return }
    throw ValidationError(
      "compare uses assumed costs, which give the same figures each time; --costs belongs to simulate and sweep"
    )
  }
}
