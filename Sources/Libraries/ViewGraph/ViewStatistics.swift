/// The statistics of one kind of view.
public struct ViewStatistics: Hashable, Sendable {
  public var evaluations = 0
  public var avoidable = 0
  /// The total duration in nanoseconds, including child views.
  public var total: UInt64 = 0
  /// The total duration in nanoseconds, without child views.
  public var selfTotal: UInt64 = 0
  /// The longest duration of an evaluation in nanoseconds, including child views.
  public var maximum: UInt64 = 0
  /// The number of occurrences of each cause. One evaluation may have several causes.
  public var causes: [EvaluationReason: Int] = [:]

  public init() {}

  mutating func add(_ record: EvaluationRecord) {
    evaluations += 1
    if record.isAvoidable { avoidable += 1 }
    total += record.inclusive
    selfTotal += record.exclusive
    maximum = max(maximum, record.inclusive)
    record.forEachReason { causes[$0, default: 0] += 1 }
  }
}

/// A kind of cause, with the action and field that triggered it.
public struct EvaluationReason: Hashable, Sendable, Comparable {
  public enum Kind: String, Sendable, CaseIterable {
    case firstAppearance, ownRead, presence, changedInput
  }

  public let kind: Kind
  /// The kind of action, such as `chat.messages`; `nil` if unknown.
  public let action: String?
  /// The field of the view's state, or of the parent's state for a changed input; `nil` if unknown.
  public let field: String?

  public init(kind: Kind, action: String? = nil, field: String? = nil) {
    self.kind = kind
    self.action = action
    self.field = field
  }

  /// Orders reasons by kind, action and field, so that the order is the same in each run.
  public static func < (left: EvaluationReason, right: EvaluationReason) -> Bool {
    (left.kind.rawValue, left.action ?? "", left.field ?? "")
      < (right.kind.rawValue, right.action ?? "", right.field ?? "")
  }
}

extension EvaluationCause {
  public var kind: EvaluationReason.Kind {
    switch self {
    case .firstAppearance: .firstAppearance
    case .ownRead: .ownRead
    case .presence: .presence
    case .changedInput: .changedInput
    }
  }
}

extension EvaluationRecord {
  /// The causes with their actions and fields, or a single cause if these are unknown.
  public var reasons: [EvaluationReason] {
    var reasons: [EvaluationReason] = []
    forEachReason { reasons.append($0) }
    return reasons
  }

  func forEachReason(_ body: (EvaluationReason) -> Void) {
    let kind = cause.kind
    if !triggers.isEmpty {
      for trigger in triggers {
        body(EvaluationReason(kind: kind, action: trigger.action, field: trigger.field))
      }
    } else if !fields.isEmpty {
      for field in fields { body(EvaluationReason(kind: kind, field: field)) }
    } else {
      body(EvaluationReason(kind: kind))
    }
  }
}
