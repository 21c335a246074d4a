public import Composable

/// Why a view was evaluated.
public enum EvaluationCause: Hashable, Sendable {
  /// It was not on the screen before.
  case firstAppearance
  /// A field that it read changed.
  case ownRead(FieldSet)
  /// An optional child came or went, in the field of this index.
  case presence(Int)
  /// Its parent was evaluated and handed its tracked state down anew.
  case changedInput
}

/// One evaluation of a view.
public struct EvaluationRecord: Sendable {
  public let frame: UInt64
  public let view: ViewID
  public let name: String
  public let cause: EvaluationCause
  /// Names of the fields of the cause.
  public let fields: [String]
  /// Nanoseconds, with the views evaluated within.
  public let inclusive: UInt64
  /// Nanoseconds, without them.
  public let exclusive: UInt64
  /// Whether it looked the same as before: the evaluation could have been avoided.
  public let isAvoidable: Bool
}

/// Counts of one kind of view.
public struct ViewStatistics: Hashable, Sendable {
  public var evaluations = 0
  public var avoidable = 0
  /// Nanoseconds, with the views evaluated within.
  public var total: UInt64 = 0
  /// The longest one, in nanoseconds.
  public var maximum: UInt64 = 0

  public init() {}

  mutating func add(_ record: EvaluationRecord) {
    evaluations += 1
    if record.isAvoidable { avoidable += 1 }
    total += record.inclusive
    maximum = max(maximum, record.inclusive)
  }
}
