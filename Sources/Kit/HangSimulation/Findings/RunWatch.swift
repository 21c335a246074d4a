import Composable
import ViewGraph

/// Measures the real work of a run, and watches it to explain it. Belongs to the thread that simulates.
final class RunWatch {
  private let reader: SizeReader
  private let work: WorkRecorder
  private let effects: EffectMeter
  private let duration: VirtualTime
  // Only if something is to be found.
  private let recorder: FindingRecorder?
  private let copies: CopyRecorder?
  private let history: SizeHistory?

  /// `nil` if nothing is measured.
  ///
  /// - Parameter look: reads the sizes of the state.
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

  /// A turn in which only events were taken in.
  func endQuietTurn(at time: Int64) { history?.note(at: time) }

  // MARK: Actions

  func beginAction() {
    copies?.beginAction()
    // Last, so that nothing else is measured.
    work.beginAction()
  }

  /// Returns how long the reduction took.
  func endAction(_ kind: Int, _ name: @autoclosure () -> String, elements: Int) -> Int64 {
    let measured = work.endAction(kind, name(), elements: elements)
    reader.invalidate()
    copies?.endAction(kind)
    return measured
  }

  /// The action cost this in the simulation.
  func reduced(_ kind: Int, cost: Int64, isFeedback: Bool) {
    recorder?.reduced(kind, cost: cost, isFeedback: isFeedback)
  }

  // MARK: Views

  func beginEvaluation(_ view: String) { work.beginEvaluation(view) }

  /// Returns how long the evaluation took; 0 if it was not measured.
  func endEvaluation(_ output: ViewNode) -> Int64 {
    let measured = work.endEvaluation(output)
    recorder?.didEvaluate(output)
    return measured
  }

  func note(_ record: EvaluationRecord) { recorder?.note(record) }
  func removed(_ view: ViewID, _ name: String) { recorder?.removed(view, name) }

  /// Runs what effects have for the thread.
  func whileEffectsRun(_ body: () -> Void) {
    recorder?.isInEffects = true
    body()
    recorder?.isInEffects = false
  }

  // MARK: Result

  /// Effects that held the thread.
  var laneHolds: [EffectMeter.Holds] { effects.holds }

  /// What grows, and what it was found in.
  ///
  /// - Parameter earlier: what was measured in a run of the same plan.
  func growth(
    on device: Device, reads: @escaping (String) -> [String], with earlier: WorkTable?
  ) -> (found: [GrowthSearch.Found], table: WorkTable) {
    var table = work.result
    if let earlier, !table.takeMinimum(of: earlier) { table = earlier }
    let search = GrowthSearch(table: table, device: device, duration: duration, reads: reads)
    return (search.found, table)
  }

  /// What was found in the run; `nil` if nothing was to be.
  func found(_ run: RunReport, _ device: Device) -> RunFindings? {
    guard let recorder, let copies, let history else { return nil }
    let rules = FindingRules(run: run, duration: duration.nanoseconds)
    var counts: [MeasuredRules.Target: Int] = [:]
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
