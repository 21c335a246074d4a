import ViewGraph
import Wording

extension SimulatedRun {
  var recordedTurns: Int { collector.recordedTurns }

  /// An error about a path in the costs that matches no collection of the state, with a suggestion;
  /// `nil` if all match.
  var pathProblem: String? {
    guard let path = clock.unknownPaths.first else { return nil }
    return
      "\(device.name), \(variant.name): costs depend on '\(path)', "
      + "which is not a collection of the state"
      + Spelling.hint(for: path, among: clock.knownPaths)
  }

  /// The effects that held the thread; empty if this was not measured.
  var laneHolds: [EffectMeter.Holds] { watch?.laneHolds ?? [] }

  /// Returns the growth of the run's work, and its measurements, if the run measures growth.
  func growth(with earlier: WorkTable? = nil) -> (found: [GrowthSearch.Found], table: WorkTable) {
    watch?.growth(on: device, reads: screen.views.reads, with: earlier) ?? ([], WorkTable())
  }

  /// Returns the avoidable work of the run; `nil` if the run does not look for avoidable work.
  func findings(_ report: RunReport) -> RunFindings? {
    watch?.found(report, device)
  }

  /// Returns the report, which is complete only after the run has ended.
  package func report() -> RunReport {
    collector.report(
      device: device, variant: variant.name, events: screen.eventTotals,
      actions: screen.actionCount, frames: Int(screen.views.frames),
      statistics: screen.views.statistics, faults: screen.faultCounts,
      windows: screen.faults, effects: world.reports,
      constants: DeviceProfile.Costs.constants(
        views: Set(variant.views).union(screen.views.statistics.keys).sorted(),
        actions: ActionKinds(screen.actions).names))
  }
}
