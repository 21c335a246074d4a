import Composable
package import ViewGraph

/// The time of a simulated main thread: it advances by what the thread's work costs on the device.
package final class SimulatedClock: EvaluationClock {
  private var costs: CostTable
  private var kinds: ActionKinds?
  @exclusivity(unchecked) private(set) var time: Int64 = 0
  /// The pending cost of views that appeared in this frame. It is spent once all bodies are
  /// evaluated.
  @exclusivity(unchecked) private var appearance: Int64 = 0
  /// What the turn spent on views that appeared.
  private var spentOnAppearance: Int64 = 0
  /// What the turn spent, by the numbers of ``ActionKinds``.
  private var spentOnActions = [Int64]()
  @exclusivity(unchecked) private var touched: [Int] = []
  /// Called after the views that appeared were created, with the time at which that began.
  var onAppearance: ((_ start: Int64, _ end: Int64) -> Void)?
  /// Measures what evaluations really take; `nil` unless somebody asked.
  let recorder: CostRecorder?
  /// Measures the same beside the sizes of the state, and looks for work that could be left out.
  var watch: RunWatch?

  /// Reads the sizes of the collections in the state, for costs that depend on them.
  var look: ((inout StateSizes) -> Void)? {
    didSet {
      reader.look = look
      recorder?.reader.look = look
    }
  }
  private let reader = SizeReader(isThorough: true)
  private let usesSizes: Bool
  /// Whether actions and evaluations cost what they really take on this machine, times the slowdown of the device.
  private let spendsMeasured: Bool

  init(costs: CostTable, recorder: CostRecorder? = nil, spendsMeasured: Bool = false) {
    self.spendsMeasured = spendsMeasured
    self.costs = costs
    usesSizes = !spendsMeasured && !costs.paths.isEmpty
    self.recorder = recorder
  }

  /// Makes ready for actions of these kinds, before the first one.
  func prepare(for kinds: ActionKinds) {
    self.kinds = kinds
    costs.add(kinds)
    spentOnActions = Array(repeating: 0, count: kinds.count)
  }

  package var now: UInt64 { UInt64(time) }

  /// Advances time while the thread is idle. Never moves it backwards.
  func wait(until instant: VirtualTime) { time = max(time, instant.nanoseconds) }

  /// Saturates: a turn of absurd length ends the run but must not crash the program.
  private func spend(_ cost: Int64) { time = min(time + cost, Self.end) }

  private static let end = Int64.max / 4

  /// What was measured on this machine, on the device.
  func scaled(_ measured: Int64) -> Int64 { costs.scaled(measured) }

  /// Spends time that was measured on this machine.
  func spend(measured: Int64) { spend(scaled(measured)) }

  /// Spends the cost of reducing an action of this kind.
  ///
  /// - Parameter measured: what it took on this machine.
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

  /// How many elements the collection at a path has now; 0 if it is not there.
  private func size(_ path: String) -> Int {
    reader.update()
    return reader.sizes[path] ?? 0
  }

  /// Paths of collections that something costs more with, and that the state never had.
  var unknownPaths: [String] {
    // Nothing was looked at if no such view or action came up.
    knownPaths.isEmpty ? [] : costs.paths.filter { reader.sizes[$0] == nil }.sorted()
  }

  /// Paths of the collections that the state had when costs depended on them.
  var knownPaths: [String] { reader.sizes.paths }

  /// Spends the one-off cost of the views that appeared.
  package func didEvaluateFrame() {
    guard appearance > 0 else { return }
    let start = time
    spend(appearance)
    spentOnAppearance += appearance
    appearance = 0
    onAppearance?(start, time)
  }

  /// What this view costs for each element that it shows.
  func elementCost(ofView name: String) -> Int64 { costs.element(ofView: name) }

  /// What this view costs once, when it appears.
  func appearanceCost(ofView name: String) -> Int64 { costs.appearance(ofView: name) }

  /// Returns what was spent on appearing views since the last call, and resets it.
  func takeAppearanceCost() -> Int64 { exchange(&spentOnAppearance, with: 0) }

  /// Returns the kind of action that cost most since the last call, if any, and resets the costs.
  func takeCostliestAction() -> (name: String, cost: Int64)? {
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
