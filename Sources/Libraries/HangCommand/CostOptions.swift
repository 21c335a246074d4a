import HangSimulation

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

/// Options for repeating runs with measured costs.
package struct CostOptions: ParsableArguments {
  enum Costs: String, ExpressibleByArgument, CaseIterable { case assumed, measured }

  @Option(
    help: ArgumentHelp(
      """
      The costs of actions and evaluations. 'assumed' uses the device's costs. With 'measured', \
      each run is repeated with the time of the real code on this machine, multiplied by the \
      device's slowdown; the report shows both side by side. Thresholds are checked with the \
      assumed costs.
      """, valueName: "costs"))
  var costs = Costs.assumed
  @Option(
    help: ArgumentHelp(
      "With --costs measured, the repetitions of each run. Default: 5; for 'sweep', 1 per seed.",
      valueName: "n"))
  var repeats: Int?

  package init() {}

  package var areMeasured: Bool { costs == .measured }

  package func validate() throws {
    guard let repeats else { return }
    guard areMeasured else { throw ValidationError("--repeats needs --costs measured") }
    guard (1...1_000).contains(repeats) else {
      throw ValidationError("--repeats must be from 1 to 1000")
    }
  }

  /// Applies the options; `repeats` is used if the command line sets no number.
  func apply(to plan: inout SimulationPlan, repeats: Int) {
    if areMeasured { plan.measuredRepeats = self.repeats ?? repeats }
  }

  /// Rejects measured costs with a `ValidationError` that contains the reason and the remedy.
  package func refuseMeasured(_ reason: String) throws {
    if areMeasured { throw ValidationError("--costs measured: \(reason)") }
  }
}

/// The option `--costs` for verbs without measured costs, rejected with an explanation.
package struct NoCostOptions: ParsableArguments {
  @Option(help: .hidden) var costs: String?

  package init() {}

  package func validate() throws {
    guard costs != nil else { return }
    throw ValidationError(
      "compare uses assumed costs for reproducible figures; use --costs with simulate or sweep"
    )
  }
}
