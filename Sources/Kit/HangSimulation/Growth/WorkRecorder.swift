import Composable
import ViewGraph

/// Measures the real work of each evaluation and each reduction of a run, and sees how large the state is.
///
/// Which of them it keeps depends on their order alone: a run that is repeated keeps the same. Of each view and kind of
/// action it keeps up to ``most``, evenly over the run.
///
/// Belongs to the thread that simulates.
final class WorkRecorder {
  /// Enough for sixteen sizes with eight measurements each.
  private static let most = 256
  /// Of a turn with thousands of actions of a kind, so many are kept.
  private static let mostInTurn = 4

  private let reader: SizeReader
  private var clock = WorkClock()
  private var table = WorkTable()
  private var turn = 0
  /// Whether the present turn has a sample, so that its sizes are wanted.
  private var wantsSizes = false
  private var views: [String: Int] = [:]
  /// By the numbers of ``ActionKinds``.
  private var actions: [Int?] = []
  /// The view that is being evaluated, if its work is measured.
  private var view: Int?

  /// Whether everything is measured, not only what is kept.
  private let measuresAll: Bool

  /// Whether the screen says when an action begins.
  private var marksActions = false

  /// - Parameter measuresAll: whether everything is measured, not only what is kept.
  init(measuresAll: Bool, _ reader: SizeReader) {
    self.measuresAll = measuresAll
    self.reader = reader
  }

  /// What was measured.
  var result: WorkTable {
    var table = table
    table.paths = reader.sizes.paths
    return table
  }

  func beginTurn() {
    turn += 1
    if !marksActions { clock.begin() }
  }

  func endTurn() {
    guard wantsSizes else { return }
    wantsSizes = false
    reader.update()
    table.sizes.append(reader.sizes.counts)
  }

  func beginAction() {
    marksActions = true
    clock.begin()
  }

  /// Ends an action. It began with the end of the one before or with the turn, unless the screen says when. Returns what it
  /// took.
  func endAction(_ kind: Int, _ name: @autoclosure () -> String, elements: Int) -> Int64 {
    let work = clock.end()
    while actions.count <= kind { actions.append(nil) }
    let target = actions[kind] ?? add(.action, name())
    actions[kind] = target
    if keeps(target) { keep(work, elements, target) }
    if !marksActions { clock.begin() }
    return work
  }

  func beginEvaluation(_ name: String) {
    let target = views[name] ?? add(.view, name)
    views[name] = target
    view = keeps(target) ? target : nil
    if view != nil || measuresAll { clock.begin() }
  }

  /// Returns what it took; 0 if it was not measured.
  func endEvaluation(_ output: ViewNode) -> Int64 {
    guard view != nil || measuresAll else { return 0 }
    let work = clock.end()
    if let view { keep(work, output.elementCount, view) }
    return work
  }

  // MARK: Samples

  private func add(_ kind: GrowthFinding.Kind, _ name: String) -> Int {
    table.targets.append(WorkTable.Target(kind: kind, name: name))
    return table.targets.count - 1
  }

  private func keeps(_ target: Int) -> Bool {
    // The turns are the same for all that happens often, so that few turns need a look at the sizes.
    guard turn & (table.targets[target].stride - 1) == 0 else { return false }
    return table.targets[target].turn != turn || table.targets[target].inTurn < Self.mostInTurn
  }

  private func keep(_ work: Int64, _ elements: Int, _ index: Int) {
    wantsSizes = true
    let sample = WorkTable.Sample(work: work, elements: elements, look: table.sizes.count)
    table.targets[index].add(sample, in: turn, most: Self.most)
  }
}

extension WorkTable.Target {
  /// Keeps a sample. Of too many, every other one goes.
  mutating func add(_ sample: WorkTable.Sample, in turn: Int, most: Int) {
    inTurn = self.turn == turn ? inTurn + 1 : 1
    self.turn = turn
    samples.append(sample)
    guard samples.count > most else { return }
    samples = samples.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    stride *= 2
  }
}
