import Composable
import ViewGraph

/// Measures the real work of evaluations and reductions in a run, together with the sizes of the
/// state.
///
/// The kept samples depend only on the order of the work, so a repeated run keeps the same samples.
/// Keeps up to ``most`` samples of each view and action kind, distributed over the run.
///
/// Belongs to the simulating thread.
final class WorkRecorder {
  /// Enough for sixteen sizes with eight samples each.
  private static let most = 256
  /// The maximum number of kept samples of a target in one turn, which may have thousands of
  /// actions of a kind.
  private static let mostInTurn = 4

  private let reader: SizeReader
  private var clock = WorkClock()
  private var table = WorkTable()
  private var turn = 0
  /// Whether the current turn has a sample, so that its sizes are needed.
  private var wantsSizes = false
  private var views: [String: Int] = [:]
  /// The targets of actions, by action number (``ActionKinds``).
  private var actions: [Int?] = []
  /// The target of the view being evaluated, if its sample will be kept.
  private var view: Int?

  /// Whether all work is measured, and not only the kept samples.
  private let measuresAll: Bool

  /// Whether the screen marks the start of actions.
  private var marksActions = false

  /// - Parameter measuresAll: Whether all work is measured, and not only the kept samples.
  init(measuresAll: Bool, _ reader: SizeReader) {
    self.measuresAll = measuresAll
    self.reader = reader
  }

  /// The kept samples.
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

  /// Ends an action. Unless the screen marks starts, the action began at the end of the previous
  /// action, or at the start of the turn. Returns its duration.
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

  /// Ends an evaluation. Returns its duration; 0 if it was not measured.
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
    // All work that occurs often is sampled in the same turns, so that the sizes are read in few
    // turns.
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
  /// Keeps a sample. If there are too many samples, removes every other sample.
  mutating func add(_ sample: WorkTable.Sample, in turn: Int, most: Int) {
    inTurn = self.turn == turn ? inTurn + 1 : 1
    self.turn = turn
    samples.append(sample)
    guard samples.count > most else { return }
    samples = samples.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    stride *= 2
  }
}
