import Suggestions
import ViewGraph

/// What a run gives once it has ended.
extension SimulatedRun {
  /// How many turns the report keeps for thresholds.
  var keptTurns: Int { collector.keptTurns }

  /// A path that costs name and that no collection of the state had, with a suggestion; `nil` if there is none.
  var pathProblem: String? {
    guard let path = clock.unknownPaths.first else { return nil }
    return
      "\(device.name), \(variant.name): costs depend on '\(path)', which is no collection of the state"
      + Spelling.hint(for: path, among: clock.knownPaths)
  }

  /// Effects that held the thread, as far as they were measured.
  var laneHolds: [EffectMeter.Holds] { watch?.laneHolds ?? [] }

  /// What grows, and what it was found in; for runs that find it.
  func growth(with earlier: WorkTable? = nil) -> (found: [GrowthSearch.Found], table: WorkTable) {
    watch?.growth(on: device, reads: screen.views.reads, with: earlier) ?? ([], WorkTable())
  }

  /// What could be left out; `nil` for runs that do not find it.
  func findings(_ report: RunReport) -> RunFindings? {
    watch?.found(report, device)
  }

  /// The result; complete once the run has ended.
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
