import ViewGraph

/// Watches a run for avoidable work, and attributes it to views and actions. Belongs to the
/// simulating thread. The counts depend on the plan alone.
final class FindingRecorder {
  private let clock: SimulatedClock
  private(set) var actions: [ActionTally] = []
  private var numbers: [String: Int] = [:]
  private(set) var views: [ViewTally] = []
  private var viewNumbers: [String: Int] = [:]
  /// The current output of each view on the screen.
  private var outputs: [ViewID: ViewNode] = [:]
  /// The outputs of the views being evaluated, innermost last.
  private var evaluating: [ViewNode] = []
  /// The times at which views disappeared, by name and last output.
  private var removedOutputs: [String: [ViewNode: [Int64]]] = [:]
  /// Whether the thread is running the work that effects scheduled on it.
  var isInEffects = false
  /// The action whose feedback is being reduced.
  private var leader: Int?

  /// A view that returns within this time (in nanoseconds) should have stayed on the screen.
  private static let moment: Int64 = 1_000_000_000
  /// The minimum percentage of unchanged elements for an evaluation to count as coarse.
  private static let coarseShare = 90
  /// The maximum number of remembered outputs of removed views, per view name.
  private static let maximumRemoved = 4_096

  init(_ clock: SimulatedClock) { self.clock = clock }

  /// Sets up the counters for these kinds of actions, and discards the first frame.
  func prepare(for kinds: ActionKinds) {
    actions = (0..<kinds.count).map { ActionTally(name: kinds.name($0)) }
    for (number, name) in kinds.names.enumerated() { numbers[name] = number }
    evaluating = []
  }

  // MARK: Actions

  func reduced(_ kind: Int, cost: Int64, isFeedback: Bool) {
    actions[kind].reductions.add(cost)
    if isInEffects { actions[kind].fromEffects += 1 }
    if isFeedback, let leader {
      actions[kind].asFeedback += 1
      actions[leader].followers.add(cost)
    } else {
      leader = kind
    }
  }

  // MARK: Views

  /// Records the output of a view's body; the view's children are evaluated afterwards.
  func didEvaluate(_ output: ViewNode) { evaluating.append(output) }

  func record(_ record: EvaluationRecord) {
    guard let output = evaluating.popLast() else { return }
    let old = outputs.updateValue(output, forKey: record.view)
    let view = number(ofView: record.name)
    guard record.cause != .firstAppearance else { return recordAppearance(record, output, view) }
    views[view].evaluations += 1
    guard !record.isAvoidable else {
      return views[view].avoidable.add(Int64(record.exclusive), because: record.reasons)
    }
    recordShown(record)
    if let old, views[view].wantsComparison { compare(output, with: old, record, view) }
  }

  private func number(ofView name: String) -> Int {
    if let known = viewNumbers[name] { return known }
    viewNumbers[name] = views.count
    views.append(ViewTally(name: name))
    return views.count - 1
  }

  /// Counts the frame as changed by the actions that triggered the evaluation.
  private func recordShown(_ record: EvaluationRecord) {
    for trigger in record.triggers {
      guard let kind = numbers[trigger.action] else { continue }
      if case .presence = record.cause { actions[kind].presences += 1 }
      guard actions[kind].lastShown != record.frame else { continue }
      actions[kind].lastShown = record.frame
      actions[kind].shown += 1
    }
  }

  private func compare(
    _ output: ViewNode, with old: ViewNode, _ record: EvaluationRecord, _ view: Int
  ) {
    let (elements, same) = (output.elementCount, output.unchangedElements(since: old))
    let elementCost = clock.elementCost(ofView: record.name)
    let isCoarse = same > 0 && same * 100 >= elements * Self.coarseShare
    views[view].addComparison(
      coarse: isCoarse ? Int64(same) * elementCost : nil, because: record.reasons,
      RowIdentity(output, old), elementCost: elementCost)
  }

  private func recordAppearance(_ record: EvaluationRecord, _ output: ViewNode, _ view: Int) {
    views[view].appearances += 1
    guard var times = removedOutputs[record.name]?[output], let last = times.popLast() else {
      return
    }
    removedOutputs[record.name]?[output] = times.isEmpty ? nil : times
    guard clock.time - last <= Self.moment else { return }
    views[view].returns.add(
      Int64(record.exclusive) + clock.appearanceCost(ofView: record.name))
  }

  func removed(_ view: ViewID, _ name: String) {
    guard let output = outputs.removeValue(forKey: view), output.elementCount > 0 else { return }
    if removedOutputs[name]?.count ?? 0 >= Self.maximumRemoved { removedOutputs[name] = [:] }
    removedOutputs[name, default: [:]][output, default: []].append(clock.time)
  }
}
