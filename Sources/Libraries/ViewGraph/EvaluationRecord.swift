public import Composable

/// The reason for the evaluation of a view.
public enum EvaluationCause: Hashable, Sendable {
  /// The view was not on the screen before.
  case firstAppearance
  /// A field that the view read has changed.
  case ownRead(FieldSet)
  /// The children in the field with this index changed: an optional child appeared or disappeared,
  /// elements of a collection were inserted, removed or moved, or an enum changed its case.
  case presence(Int)
  /// The view's parent was evaluated and passed its tracked state down again.
  case changedInput
}

/// One evaluation of a view.
public struct EvaluationRecord: Sendable {
  public let frame: UInt64
  public let view: ViewID
  public let name: String
  public let cause: EvaluationCause
  /// The names of the fields in the cause.
  public let fields: [String]
  /// The actions that changed ``fields``; for a changed input, the actions that caused the parent's
  /// evaluation. Empty for a first appearance, or if the store does not attribute changes.
  public let triggers: [EvaluationTrigger]
  /// The start time on the graph's clock.
  public let start: UInt64
  /// The duration in nanoseconds, including the child views evaluated during it.
  public let inclusive: UInt64
  /// The duration in nanoseconds, without child views.
  public let exclusive: UInt64
  /// Whether the output was the same as before, so the evaluation was unnecessary.
  public let isAvoidable: Bool
}

/// An action that changed a field that a view depends on.
public struct EvaluationTrigger: Hashable, Sendable {
  /// The kind of action, such as `chat.messages`.
  public let action: String
  /// The field of the view's state. For a changed input, the field of the parent's state.
  public let field: String

  public init(action: String, field: String) {
    self.action = action
    self.field = field
  }
}
