public import Composable

/// Why a view was evaluated.
public enum EvaluationCause: Hashable, Sendable {
  /// It was not on the screen before.
  case firstAppearance
  /// A field that it read changed.
  case ownRead(FieldSet)
  /// A child came or went, in the field of this index: an optional one, an element of a collection, the case of an enum.
  case presence(Int)
  /// Its parent was evaluated and passed its tracked state down again.
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
  /// Which actions changed them; of a changed input, what had its parent evaluated. Empty for a
  /// first appearance, and where the store does not attribute changes.
  public let triggers: [EvaluationTrigger]
  /// When it began, on the graph's clock.
  public let start: UInt64
  /// Nanoseconds, with the views evaluated within.
  public let inclusive: UInt64
  /// Nanoseconds, without them.
  public let exclusive: UInt64
  /// Whether it looked the same as before: the evaluation could have been avoided.
  public let isAvoidable: Bool
}

/// An action that changed a field that a view depends on.
public struct EvaluationTrigger: Hashable, Sendable {
  /// The kind, such as `chat.messages`.
  public let action: String
  /// The field of the view's state; for a changed input that of its parent's state.
  public let field: String

  public init(action: String, field: String) {
    self.action = action
    self.field = field
  }
}
