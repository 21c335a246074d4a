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

  init(costs: CostTable, recorder: CostRecorder? = nil) {
    self.costs = costs
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

  /// Spends the cost of reducing an action of this kind.
  func reduce(_ kind: Int, elements: Int) {
    let start = time
    spend(costs.cost(ofAction: kind, elements: elements))
    if spentOnActions[kind] == 0 { touched.append(kind) }
    spentOnActions[kind] += time - start
  }

  package func willEvaluate(_ view: String) { recorder?.beginEvaluation() }

  package func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {
    recorder?.endEvaluation(view, output, isFirst: isFirst)
    spend(costs.cost(ofView: view, showing: output))
    if isFirst { appearance += costs.appearance(ofView: view) }
  }

  /// Spends the one-off cost of the views that appeared.
  package func didEvaluateFrame() {
    guard appearance > 0 else { return }
    let start = time
    spend(appearance)
    spentOnAppearance += appearance
    appearance = 0
    onAppearance?(start, time)
  }

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
