import Wording

/// The result of a simulation: its report and, if requested, a trace.
public struct SimulationOutcome: Sendable {
  /// The report.
  public var report: SimulationReport
  /// The trace as Chrome trace JSON; `nil` unless requested.
  public var trace: String?
}

extension SimulationPlan {
  /// Runs every variant on every device.
  ///
  /// Yields to other tasks about once per millisecond of work, and ends early if the task is
  /// cancelled. The same plan gives the same report, byte for byte. `progress` is called with the
  /// percentage done, from 1 to 100, at most once for each value.
  ///
  /// - Throws: ``SimulationProblem``, also if a device falls so far behind that too many events
  ///   wait; `CancellationError`.
  public func run(
    wantsTrace: Bool = false, progress: (_ percent: Int) -> Void = { _ in }
  ) async throws -> SimulationOutcome {
    let trace = wantsTrace ? TraceRecorder() : nil
    let count = devices.count * variants.count * (1 + measuredRepeats)
    var runs: [RunReport] = []
    var done = 0
    var reported = 0
    var plan = self
    var growth = GrowthSummary()
    var findings: [RunFindings] = []
    var measured: [MeasuredRuns] = []
    func reportProgress(_ run: SimulatedRun?) {
      let part = run.map { $0.time.nanoseconds / max(1, duration.nanoseconds / 1_000) } ?? 0
      let percent = (done * 1_000 + Int(part)) / (10 * count)
      if percent > reported {
        reported = percent
        progress(min(percent, 100))
      }
    }
    for device in devices {
      for variant in variants {
        let run = try SimulatedRun(
          plan, device, variant, trace: trace, measuring: findsGrowth ? .growth : .nothing)
        while run.advance(work: SimulationSlice.work) {
          reportProgress(run)
          try await SimulationSlice.end()
        }
        if let problem = run.problem { throw problem }
        if checksNames, let problem = run.pathProblem {
          throw SimulationProblem(description: problem)
        }
        plan.limits.recordedTurns -= run.recordedTurns
        var report = run.report()
        trace?.end(report)
        if let found = run.findings(report) { findings.append(found) }
        report.actionKinds = ActionKinds(run.screen.actions).names
        if findsGrowth {
          report.measuredGrowth.value = try await plan.findGrowth(in: run, device, variant, &growth)
        }
        runs.append(report)
        done += 1
        reportProgress(nil)
        if measuredRepeats > 0 {
          measured.append(
            try await plan.measuredRuns(device, variant) { repeated in
              if repeated == nil { done += 1 }
              reportProgress(repeated)
            })
        }
        // Many short runs are as much work as a long one.
        try await SimulationSlice.end()
      }
    }
    if checksNames { try check(runs) }
    var report = SimulationReport(
      version: simulatorVersion, scenario: name, seed: seed, duration: duration,
      parameters: parameters.map { .init(key: $0.key, value: $0.value) }, runs: runs,
      thresholds: [])
    report.growth = growth.findings
    report.countedFindings = findings.counted
    report.measuredFindings.value = findings.measured(report.growth)
    for (index, run) in runs.enumerated() {
      let found = report.growth.filter { $0.variant == run.variant }
      report.runs[index].measuredGrowth.value?.findings = found
    }
    report.laneHolds = growth.laneHolds
    report.measured = measured
    let found = [report]
    for threshold in thresholds {
      report.thresholds.append(threshold.check(found))
      // Each threshold reads the turns of all runs.
      try await SimulationSlice.end()
    }
    return SimulationOutcome(report: report, trace: trace?.text)
  }

  /// Adds the growth found in a run. An uncertain run is repeated: the same plan does the same
  /// work, so the shortest time of each evaluation counts.
  ///
  /// - Returns: Whether the run could detect growth. The findings are complete after the last run.
  private func findGrowth(
    in run: SimulatedRun, _ device: Device, _ variant: Variant, _ growth: inout GrowthSummary
  ) async throws -> GrowthRecord {
    var (found, table) = run.growth()
    for _ in 0..<GrowthSummary.repeats
    where growth.isUncertain(found, device, variant: variant.name) {
      let again = try SimulatedRun(self, device, variant, measuring: .growth)
      while again.advance(work: SimulationSlice.work) { try await SimulationSlice.end() }
      (found, table) = again.growth(with: table)
    }
    growth.add(found, table, run.laneHolds, device, variant: variant.name)
    return GrowthRecord(table)
  }

  /// Runs a variant on a device several times with measured costs.
  ///
  /// - Parameter progress: Called with the current run, and with `nil` when it has ended.
  private func measuredRuns(
    _ device: Device, _ variant: Variant, progress: (SimulatedRun?) -> Void
  ) async throws -> MeasuredRuns {
    var runs: [RunReport] = []
    for _ in 0..<measuredRepeats {
      let run = try SimulatedRun(self, device, variant, measuring: .costs)
      while run.advance(work: SimulationSlice.work) {
        progress(run)
        try await SimulationSlice.end()
      }
      if let problem = run.problem {
        throw SimulationProblem(
          description: "with costs measured on this machine: \(problem.description)")
      }
      runs.append(run.report())
      progress(nil)
    }
    return MeasuredRuns(device: device.name, variant: variant.name, runs: runs)
  }

  /// Runs the first variant on the first device to the end, and returns the resulting screen.
  package func finalScreen() throws -> (any RunningScreen)? {
    guard let device = devices.first, let variant = variants.first else { return nil }
    let run = try SimulatedRun(self, device, variant)
    while run.advance(work: SimulationSlice.work) {}
    if let problem = run.problem { throw problem }
    return run.screen
  }

  /// Checks the names of views, which are known only after the views have appeared.
  private func check(_ runs: [RunReport]) throws(SimulationProblem) {
    let views = Set(runs.flatMap(\.views).map(\.name))
    for variant in variants {
      for view in variant.views where !views.contains(view) {
        throw SimulationProblem(
          description: "the variant '\(variant.name)' lists the view '\(view)', which never "
            + "appeared" + Spelling.hint(for: view, among: views.sorted()))
      }
    }
    for device in devices {
      for view in device.profile.costs.views.keys.sorted() where !views.contains(view) {
        throw SimulationProblem(
          description: "the device '\(device.name)' has costs of the view '\(view)', which never "
            + "appeared" + Spelling.hint(for: view, among: views.sorted()))
      }
    }
    try check(thresholds, against: runs)
  }

  /// Checks the names in conditions against the screen of the runs.
  func check(
    _ thresholds: [Threshold], against runs: [RunReport]
  ) throws(SimulationProblem) {
    let views = Set(runs.flatMap(\.views).map(\.name)).union(variants.flatMap(\.views))
    let actions = Set(runs.flatMap(\.actionKinds))
    let effects = Set(runs.flatMap(\.effects).map(\.name))
    for threshold in thresholds {
      do throws(ThresholdProblem) {
        try threshold.check(
          views: views.sorted(), actions: actions.sorted(), effects: effects.sorted(),
          duration: duration)
      } catch {
        throw SimulationProblem(description: "\(threshold.text): \(error.message)")
      }
      try checkScope(of: threshold)
    }
  }

  /// Checks that the variant or device in a condition's scope exists.
  func checkScope(of threshold: Threshold) throws(SimulationProblem) {
    do throws(ThresholdProblem) {
      try threshold.scope?.check(
        devices: devices.map(\.name), variants: variants.map(\.name), leftOut: leftOut)
    } catch {
      throw SimulationProblem(description: "\(threshold.text): \(error.message)")
    }
  }
}

/// The version of the simulator. Must be raised with every change that affects results.
package let simulatorVersion = "0.3.1"

package enum SimulationSlice {
  /// The number of units of work between two yields: about half a millisecond, at 0.2 to 0.3 us for
  /// each event that a throttle holds. With half as many units, a run with a flood of events spent
  /// a twentieth of its time on yields, because each yield wakes a thread.
  package static let work = 2_000

  /// Lets other tasks run. Throws `CancellationError` if the simulation was cancelled.
  package static func end() async throws {
    try Task.checkCancellation()
    await Task.yield()
  }
}
