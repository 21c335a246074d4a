public import ViewGraph

extension SimulationReport {
  /// The number of hangs in all runs.
  public var hangs: Int { runs.reduce(0) { $0 + $1.hangs } }

  /// The number of microhangs in all runs.
  public var microhangs: Int { runs.reduce(0) { $0 + $1.microhangs } }

  /// The longest turn of all runs, with its run.
  public var worstTurn: (run: RunReport, turn: TurnReport)? {
    runs.compactMap { run in run.longestTurns.first.map { (run, $0) } }
      .max { $0.1.length < $1.1.length }
  }

  /// Returns the run of a variant on a device. An omitted argument matches every run; the first
  /// match is returned.
  public func run(device: String? = nil, variant: String? = nil) -> RunReport? {
    runs.first { run in
      (device.map { $0 == run.device } ?? true) && (variant.map { $0 == run.variant } ?? true)
    }
  }

  /// Returns whether all runs meet a condition, such as `view(CartView).mean < 2ms`; see
  /// ``Threshold``.
  ///
  /// - Throws: ``ThresholdProblem``, also if no run has data for the condition.
  public func meets(_ threshold: String) throws(ThresholdProblem) -> Bool {
    let threshold = try Threshold(threshold)
    try threshold.check(
      views: Set(runs.flatMap(\.views).map(\.name)).sorted(),
      actions: Set(runs.flatMap(\.actionKinds)).sorted(),
      effects: Set(runs.flatMap(\.effects).map(\.name)).sorted(), duration: duration)
    let report = threshold.check([self])
    if let skipped = report.skipped { throw ThresholdProblem(skipped) }
    if report.value == ThresholdReport.nothing, let failure = report.failures.first {
      throw ThresholdProblem(failure.value)
    }
    return report.passed
  }
}

extension RunReport {
  /// The evaluations of a view; `nil` if it never appeared.
  public subscript<V: View>(_: V.Type) -> ViewReport? { views.first { $0.name == V.name } }
}
