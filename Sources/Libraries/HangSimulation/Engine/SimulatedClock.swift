import Composable
package import ViewGraph

/// The clock of a simulated main thread, advanced by the cost of the thread's work.
package final class SimulatedClock: EvaluationClock {
  private var costs: CostTable
  private var kinds: ActionKinds?
  @exclusivity(unchecked) private(set) var time: Int64 = 0
  /// The cost of the views that appeared in this frame, spent after all evaluations.
  @exclusivity(unchecked) private var appearance: Int64 = 0
  /// The cost of appearing views in this turn.
  private var spentOnAppearance: Int64 = 0
  /// The cost of the turn's actions, by action number (``ActionKinds``).
  private var spentOnActions = [Int64]()
  @exclusivity(unchecked) private var touched: [Int] = []
  /// Called after the appearing views were created, with the start and end of that work.
  var onAppearance: ((_ start: Int64, _ end: Int64) -> Void)?
  /// Measures the real duration of evaluations; `nil` unless requested.
  let recorder: CostRecorder?
  /// Measures the real work together with the sizes of the state, and looks for avoidable work.
  var watch: RunWatch?

  /// Reads the sizes of the state's collections, for costs that depend on them.
  var look: ((inout StateSizes) -> Void)? {
    didSet {
      reader.look = look
      recorder?.reader.look = look
    }
  }
  private let reader = SizeReader(isThorough: true)
  private let usesSizes: Bool
  /// Whether actions and evaluations cost their real time on this machine, multiplied by the
  /// device's slowdown.
  private let spendsMeasured: Bool

  init(costs: CostTable, recorder: CostRecorder? = nil, spendsMeasured: Bool = false) {
    self.spendsMeasured = spendsMeasured
    self.costs = costs
    usesSizes = !spendsMeasured && !costs.paths.isEmpty
    self.recorder = recorder
  }

  /// Sets up the clock for these kinds of actions, before the first action.
  func prepare(for kinds: ActionKinds) {
    self.kinds = kinds
    costs.add(kinds)
    spentOnActions = Array(repeating: 0, count: kinds.count)
  }

  package var now: UInt64 { UInt64(time) }

  /// Advances time while the thread is idle. Never moves it backwards.
  func wait(until instant: VirtualTime) { time = max(time, instant.nanoseconds) }

  /// Advances the time. Saturates, so that a very long turn ends the run without a crash.
  private func spend(_ cost: Int64) { time = min(time + cost, Self.end) }

  private static let end = Int64.max / 4

  /// Converts a time measured on this machine to a time on the device.
  func scaled(_ measured: Int64) -> Int64 { costs.scaled(measured) }

  func spend(measured: Int64) { spend(scaled(measured)) }

  /// Spends the cost of reducing an action of this kind, which took `measured` on this machine.
  func reduce(_ kind: Int, elements: Int, measured: Int64) {
    let start = time
    spend(
      spendsMeasured
        ? costs.scaled(measured) : costs.cost(ofAction: kind, elements: elements))
    if usesSizes, let kinds {
      reader.invalidate()
      spend(costs.cost(ofFieldsOf: kinds.name(kind), size: size))
    }
    if spentOnActions[kind] == 0 { touched.append(kind) }
    spentOnActions[kind] += time - start
  }

  package func willEvaluate(_ view: String) {
    recorder?.beginEvaluation()
    watch?.beginEvaluation(view)
  }

  package func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {
    recorder?.endEvaluation(view, output, isFirst: isFirst)
    let measured = watch?.endEvaluation(output) ?? 0
    if spendsMeasured {
      spend(costs.scaled(measured) + costs.layout(ofView: view, showing: output))
    } else {
      spend(costs.cost(ofView: view, showing: output))
    }
    if usesSizes { spend(costs.cost(ofFieldsOf: view, size: size)) }
    if isFirst { appearance += costs.appearance(ofView: view) }
  }

  /// Returns the current size of the collection at a path; 0 if there is none.
  private func size(_ path: String) -> Int {
    reader.update()
    return reader.sizes[path] ?? 0
  }

  /// Those paths in the costs at which the state never contained a collection.
  var unknownPaths: [String] {
    // If no view or action with such costs occurred, the state was never read.
    knownPaths.isEmpty ? [] : costs.paths.filter { reader.sizes[$0] == nil }.sorted()
  }

  /// The paths of the state's collections, as found when costs depended on collections.
  var knownPaths: [String] { reader.sizes.paths }

  /// Spends the one-time cost of the views that appeared.
  package func didEvaluateFrame() {
    guard appearance > 0 else { return }
    let start = time
    spend(appearance)
    spentOnAppearance += appearance
    appearance = 0
    onAppearance?(start, time)
  }

  func elementCost(ofView name: String) -> Int64 { costs.element(ofView: name) }

  func appearanceCost(ofView name: String) -> Int64 { costs.appearance(ofView: name) }

  /// Returns the cost of appearing views since the last call, and resets it.
  func consumeAppearanceCost() -> Int64 { exchange(&spentOnAppearance, with: 0) }

  /// Returns the kind of action with the highest cost since the last call; resets the costs.
  func consumeCostliestAction() -> (name: String, cost: Int64)? {
    guard !touched.isEmpty else { return nil }
    var best: (kind: Int, cost: Int64)?
    for kind in touched {
      let cost = spentOnActions[kind]
      if cost > best?.cost ?? 0 { best = (kind, cost) }
      spentOnActions[kind] = 0
    }
    touched.removeAll(keepingCapacity: true)
    return best.flatMap { best in kinds.map { ($0.name(best.kind), best.cost) } }
  }
}
