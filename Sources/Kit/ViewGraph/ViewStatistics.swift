/// Counts of one kind of view.
public struct ViewStatistics: Hashable, Sendable {
  public var evaluations = 0
  public var avoidable = 0
  /// Nanoseconds, with the views evaluated within.
  public var total: UInt64 = 0
  /// Nanoseconds, without them.
  public var selfTotal: UInt64 = 0
  /// The longest one, in nanoseconds.
  public var maximum: UInt64 = 0
  /// How often each cause led to an evaluation. One evaluation may have several.
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

/// A kind of cause with the action and the field behind it.
public struct EvaluationReason: Hashable, Sendable, Comparable {
  public enum Kind: String, Sendable, CaseIterable {
    case firstAppearance, ownRead, presence, changedInput
  }

  public let kind: Kind
  /// The kind of action, such as `chat.messages`; `nil` where none is known.
  public let action: String?
  /// The field of the view's state, or for a changed input of its parent's; `nil` where none is known.
  public let field: String?

  public init(kind: Kind, action: String? = nil, field: String? = nil) {
    self.kind = kind
    self.action = action
    self.field = field
  }

  /// By kind, action and field: an order that does not change from run to run.
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
  /// Each cause with the action and the field behind it; one without them where these are not known.
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
