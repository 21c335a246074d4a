import ViewGraph

/// Something that happened so often and cost so much.
struct Tally {
  var count = 0
  /// Simulated nanoseconds.
  var cost: Int64 = 0

  /// - Parameter cost: of all together.
  mutating func add(_ cost: Int64, count: Int = 1) {
    self.count += count
    self.cost += cost
  }
}

/// Evaluations with their reasons, of which each may have several.
struct ReasonTally {
  private(set) var total = Tally()
  private var reasons: [EvaluationReason: Int] = [:]

  /// - Parameter weight: how many evaluations this one stands for.
  mutating func add(_ cost: Int64, because reasons: [EvaluationReason], weight: Int = 1) {
    total.add(cost * Int64(weight), count: weight)
    for reason in reasons { self.reasons[reason, default: 0] += weight }
  }

  /// The most frequent one.
  var reason: (reason: EvaluationReason, count: Int)? {
    reasons.min { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }
}

/// What a run did with actions of one kind.
struct ActionTally {
  let name: String
  var reductions = Tally()
  /// Of ``reductions``, those that effects sent.
  var fromEffects = 0
  /// Of ``reductions``, those that followed another action by feedback.
  var asFeedback = 0
  /// Frames that look different because of it.
  var shown = 0
  var lastShown: UInt64 = 0
  /// Evaluations because it made something appear or go.
  var presences = 0
  /// Actions that followed by feedback.
  var followers = Tally()
}

/// What a run did with views of one kind.
struct ViewTally {
  let name: String
  /// Without those in which a view appeared.
  var evaluations = 0
  /// Evaluations that changed nothing.
  var avoidable = ReasonTally()
  /// Evaluations in which nearly everything stayed, with the cost of what stayed.
  var coarse = ReasonTally()
  /// Rows that were compared with those before, ...
  var rows = 0
  /// ... and those of them that had another identity before.
  var renamedRows = Tally()
  var appearances = 0
  /// Appearances of what had gone a moment before.
  var returns = Tally()

  private var comparisons = 0
  /// Of so many evaluations one is compared with the one before: a power of two.
  private var stride = 1

  /// After this many comparisons half as many are made.
  private static let comparisonsPerStride = 128

  init(name: String) { self.name = name }

  /// Whether what the present evaluation gave is to be compared with what was there before.
  var wantsComparison: Bool { evaluations & (stride - 1) == 0 }

  /// - Parameter cost: that of what stayed, if nearly everything did.
  mutating func noteComparison(
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
