import ViewGraph

/// A count of occurrences and their total cost.
struct Tally {
  var count = 0
  /// The total cost in simulated nanoseconds.
  var cost: Int64 = 0

  /// - Parameter cost: The total cost of all `count` occurrences.
  mutating func add(_ cost: Int64, count: Int = 1) {
    self.count += count
    self.cost += cost
  }
}

/// A tally of evaluations with their reasons. An evaluation may have several reasons.
struct ReasonTally {
  private(set) var total = Tally()
  private var reasons: [EvaluationReason: Int] = [:]

  /// - Parameter weight: The number of evaluations that this sample represents.
  mutating func add(_ cost: Int64, because reasons: [EvaluationReason], weight: Int = 1) {
    total.add(cost * Int64(weight), count: weight)
    for reason in reasons { self.reasons[reason, default: 0] += weight }
  }

  var reason: (reason: EvaluationReason, count: Int)? {
    reasons.min { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }
}

/// The record of all actions of one kind in a run.
struct ActionTally {
  let name: String
  var reductions = Tally()
  /// The number of ``reductions`` whose actions came from effects.
  var fromEffects = 0
  /// The number of ``reductions`` whose actions followed another action by feedback.
  var asFeedback = 0
  /// The number of frames that the actions changed.
  var shown = 0
  var lastShown: UInt64 = 0
  /// The number of evaluations caused by content that an action made appear or disappear.
  var presences = 0
  /// The actions that followed actions of this kind by feedback.
  var followers = Tally()
}

/// The record of all views of one name in a run.
struct ViewTally {
  let name: String
  /// The number of evaluations, excluding first appearances.
  var evaluations = 0
  /// The evaluations that did not change the output.
  var avoidable = ReasonTally()
  /// The evaluations with nearly all elements unchanged, and the cost of those elements.
  var coarse = ReasonTally()
  /// The number of rows that were compared with their previous version.
  var rows = 0
  /// The compared rows that had another identity before.
  var renamedRows = Tally()
  var appearances = 0
  /// The appearances of content that had disappeared shortly before.
  var returns = Tally()

  private var comparisons = 0
  /// One of this many evaluations is compared with the previous output. A power of two.
  private var stride = 1

  /// The number of comparisons after which the share of compared evaluations is halved, each time.
  private static let comparisonsPerStride = 128

  init(name: String) { self.name = name }

  /// Whether the current evaluation's output is compared with the previous output.
  var wantsComparison: Bool { evaluations & (stride - 1) == 0 }

  /// - Parameter cost: The cost of the unchanged elements if nearly all stayed unchanged; otherwise
  ///   `nil`.
  mutating func addComparison(
    coarse cost: Int64?, because reasons: [EvaluationReason], _ identity: RowIdentity,
    elementCost: Int64
  ) {
    if let cost { coarse.add(cost, because: reasons, weight: stride) }
    rows += identity.count * stride
    renamedRows.add(
      Int64(identity.renamedElements * stride) * elementCost, count: identity.renamed * stride)
    comparisons += 1
    if comparisons.isMultiple(of: Self.comparisonsPerStride) { stride *= 2 }
  }
}
