import Composable
import ViewGraph

/// Measures and explains the real work of a run. Belongs to the simulating thread.
final class RunWatch {
  private let reader: SizeReader
  private let work: WorkRecorder
  private let effects: EffectMeter
  private let duration: VirtualTime
  // `nil` unless the run looks for findings.
  private let recorder: FindingRecorder?
  private let copies: CopyRecorder?
  private let history: SizeHistory?

  /// Creates a watch, or returns `nil` if nothing is measured. `look` reads the sizes of the state.
  init?(
    _ measuring: Measuring, _ clock: SimulatedClock, _ effects: EffectMeter?,
    duration: VirtualTime, _ look: @escaping (inout StateSizes) -> Void
  ) {
    guard measuring != .nothing, let effects else { return nil }
    self.effects = effects
    self.duration = duration
    reader = SizeReader(look)
    work = WorkRecorder(measuresAll: measuring == .costs, reader)
    let finds = measuring == .growth
    recorder = finds ? FindingRecorder(clock) : nil
    copies = finds ? CopyRecorder(reader) : nil
    history = finds ? SizeHistory(duration: duration.nanoseconds, look) : nil
  }

  func prepare(for kinds: ActionKinds) { recorder?.prepare(for: kinds) }

  func beginTurn() {
    work.beginTurn()
    copies?.beginTurn()
  }

  func endTurn(at time: Int64) {
    work.endTurn()
    endQuietTurn(at: time)
  }

  func endQuietTurn(at time: Int64) { history?.sample(at: time) }

  // MARK: Actions

  func beginAction() {
    copies?.beginAction()
    // The measurement begins last, so that it excludes the preparations.
    work.beginAction()
  }

  /// Ends an action. Returns the duration of the reduction.
  func endAction(_ kind: Int, _ name: @autoclosure () -> String, elements: Int) -> Int64 {
    let measured = work.endAction(kind, name(), elements: elements)
    reader.invalidate()
    copies?.endAction(kind)
    return measured
  }

  func reduced(_ kind: Int, cost: Int64, isFeedback: Bool) {
    recorder?.reduced(kind, cost: cost, isFeedback: isFeedback)
  }

  // MARK: Views

  func beginEvaluation(_ view: String) { work.beginEvaluation(view) }

  /// Ends an evaluation. Returns its duration; 0 if it was not measured.
  func endEvaluation(_ output: ViewNode) -> Int64 {
    let measured = work.endEvaluation(output)
    recorder?.didEvaluate(output)
    return measured
  }

  func record(_ record: EvaluationRecord) { recorder?.record(record) }
  func removed(_ view: ViewID, _ name: String) { recorder?.removed(view, name) }

  func whileEffectsRun(_ body: () -> Void) {
    recorder?.isInEffects = true
    body()
    recorder?.isInEffects = false
  }

  // MARK: Result

  var laneHolds: [EffectMeter.Holds] { effects.holds }

  /// Returns the growth of the run's work, and the measurements behind it. `earlier` are the
  /// measurements of an earlier run of the same plan.
  func growth(
    on device: Device, reads: @escaping (String) -> [String], with earlier: WorkTable?
  ) -> (found: [GrowthSearch.Found], table: WorkTable) {
    var table = work.result
    if let earlier, !table.keepMinimum(of: earlier) { table = earlier }
    let search = GrowthSearch(table: table, device: device, duration: duration, reads: reads)
    return (search.found, table)
  }

  /// Returns the findings of the run; `nil` if the run does not look for findings.
  func found(_ run: RunReport, _ device: Device) -> RunFindings? {
    guard let recorder, let copies, let history else { return nil }
    let rules = FindingRules(run: run, duration: duration.nanoseconds)
    var counts: [GrowthSubject: Int] = [:]
    for view in run.views { counts[.init(kind: .view, name: view.name)] = view.evaluations }
    for action in recorder.actions {
      counts[.init(kind: .action, name: action.name)] = action.reductions.count
    }
    let measured = MeasuredRules(
      rules: rules, device: device, refreshRate: run.refreshRate, work: work.result,
      counts: counts)
    let makingViews = Set(
      recorder.actions.filter { $0.presences > 0 && $0.presences * 2 >= $0.reductions.count }
        .map(\.name))
    return RunFindings(
      rules: measured,
      counted: rules.counted(recorder) + measured.growingWithoutEnd(history),
      measured: measured.heavy(makesViews: makingViews.contains)
        + measured.copying(copies, recorder.actions) + measured.holding(laneHolds))
  }
}
