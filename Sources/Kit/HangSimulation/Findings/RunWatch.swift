import Composable
import ViewGraph

/// Everything that watches a run to explain it. Belongs to the thread that simulates.
final class RunWatch {
  private let recorder: FindingRecorder
  private let copies: CopyRecorder
  private let sizes: SizeHistory
  private let duration: Int64

  /// - Parameters:
  ///   - duration: in nanoseconds.
  ///   - look: reads the sizes of the state.
  init(
    _ clock: SimulatedClock, duration: Int64, _ look: @escaping (inout StateSizes) -> Void
  ) {
    recorder = FindingRecorder(clock)
    copies = CopyRecorder(look)
    sizes = SizeHistory(duration: duration, look)
    self.duration = duration
  }

  func prepare(for kinds: ActionKinds) { recorder.prepare(for: kinds) }
  func beginTurn() { copies.beginTurn() }
  func endTurn(at time: Int64) { sizes.note(at: time) }
  func beginAction() { copies.beginAction() }

  func endAction(_ kind: Int, cost: Int64, isFeedback: Bool) {
    copies.endAction(kind)
    recorder.reduced(kind, cost: cost, isFeedback: isFeedback)
  }

  func didEvaluate(_ output: ViewNode) { recorder.didEvaluate(output) }
  func note(_ record: EvaluationRecord) { recorder.note(record) }
  func removed(_ view: ViewID, _ name: String) { recorder.removed(view, name) }

  /// Runs what effects have for the thread.
  func whileEffectsRun(_ body: () -> Void) {
    recorder.isInEffects = true
    body()
    recorder.isInEffects = false
  }

  // MARK: Result

  /// What was found in the run.
  func found(
    _ run: RunReport, _ device: Device, _ work: WorkTable, _ holds: [EffectMeter.Holds]
  ) -> RunFindings {
    let rules = FindingRules(run: run, duration: duration)
    var counts: [MeasuredRules.Target: Int] = [:]
    for view in run.views { counts[.init(kind: .view, name: view.name)] = view.evaluations }
    for action in recorder.actions {
      counts[.init(kind: .action, name: action.name)] = action.reductions.count
    }
    let measured = MeasuredRules(
      rules: rules, device: device, refreshRate: run.refreshRate, work: work, counts: counts)
    let makingViews = Set(
      recorder.actions.filter { $0.presences > 0 && $0.presences * 2 >= $0.reductions.count }
        .map(\.name))
    return RunFindings(
      rules: measured, counted: rules.counted(recorder) + measured.growingWithoutEnd(sizes),
      measured: measured.heavy(makesViews: makingViews.contains)
        + measured.copying(copies, recorder.actions) + measured.holding(holds))
  }
}

/// What was found in one run, before it is known what grows.
struct RunFindings {
  let rules: MeasuredRules
  /// What follows from the plan alone.
  var counted: [Finding]
  var measured: [Finding]
}

extension [RunFindings] {
  /// What was counted in all runs, the costliest first.
  var counted: [Finding] { merged(flatMap(\.counted)) }

  /// What was measured, the costliest first.
  func measured(_ growth: [GrowthFinding]) -> [Finding] {
    let all = merged(flatMap { $0.measured + $0.rules.growing(growth) })
    return all.filter { finding in !all.contains { $0.explains(finding) } }
  }

  /// Of findings that differ in their device, the one with the highest cost.
  private func merged(_ findings: [Finding]) -> [Finding] {
    var merged: [Finding] = []
    for finding in findings {
      if let same = merged.firstIndex(where: { $0.isSame(as: finding) }) {
        if merged[same].cost < finding.cost { merged[same] = finding }
      } else {
        merged.append(finding)
      }
    }
    return merged.costliestFirst
  }
}

extension [Finding] {
  /// By cost; those of equal cost stay in their order.
  var costliestFirst: [Finding] {
    enumerated().sorted { ($1.element.cost, $0.offset) < ($0.element.cost, $1.offset) }.map(
      \.element)
  }
}

extension Finding {
  fileprivate func isSame(as other: Finding) -> Bool {
    kind == other.kind && variant == other.variant && subject == other.subject
      && field == other.field
  }

  /// Whether another finding is about the same work, and this one says more about it.
  fileprivate func explains(_ other: Finding) -> Bool {
    guard variant == other.variant, subject == other.subject else { return false }
    switch (kind, other.kind) {
    case (.largeCopies, .growth): return field == other.field
    case (.largeCopies, .heavyWork), (.growth, .heavyWork): return true
    default: return false
    }
  }
}
