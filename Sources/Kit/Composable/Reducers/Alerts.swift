/// A question or a message over a screen, as state: a title, and buttons that are actions.
///
///     var alert: AlertState<AlertAction>?
///     …
///     case alert(PresentationAction<AlertAction>)
///     …
///     case .deleteTapped:
///       state.alert = AlertState("Delete it?", buttons: [
///         ButtonState("Delete", role: .destructive, action: .deleteConfirmed),
///         ButtonState("Keep", role: .cancel),
///       ])
///     …
///     Reduce { … }.presents(\.alert, action: \.alert) { Alert() }
///
/// Each button dismisses the alert, after its action was reduced, unless the parent shows another one in
/// that action. One that is shown anew is another one, even if it is equal.
public struct AlertState<Action> {
  /// The question, in a few words.
  public var title: String
  /// What the person should know before answering; empty if the title says it all.
  public var message: String
  /// In the order in which they are shown.
  public var buttons: [ButtonState<Action>]

  /// An alert to put into the parent's state.
  public init(_ title: String, message: String = "", buttons: [ButtonState<Action>] = []) {
    self.title = title
    self.message = message
    self.buttons = buttons
  }
}

/// A button of an ``AlertState``.
public struct ButtonState<Action> {
  /// What pressing the button means.
  public enum Role: Hashable, Sendable {
    /// Nothing happens. Shown in the platform's usual position for such buttons, with its usual
    /// key.
    case cancel
    /// Something is lost. Shown as a warning.
    case destructive
  }

  /// What pressing the button does, as a verb.
  public var title: String
  /// `nil` for an ordinary button.
  public var role: Role?
  /// `nil` for a button that only dismisses.
  public var action: Action?

  /// A button to put into an ``AlertState``.
  public init(_ title: String, role: Role? = nil, action: Action? = nil) {
    self.title = title
    self.role = role
    self.action = action
  }
}

extension AlertState: Equatable where Action: Equatable {}
extension AlertState: Sendable where Action: Sendable {}
extension ButtonState: Equatable where Action: Equatable {}
extension ButtonState: Sendable where Action: Sendable {}

extension FieldChangesOf {
  /// Before `set` of an alert: one that is shown anew is another one, equal or not.
  @inlinable
  public mutating func set<Action: Equatable>(
    _ index: Int, from old: AlertState<Action>?, to new: AlertState<Action>?
  ) {
    if old != nil || new != nil { write(index) }
  }
}

/// The reducer of an alert or a confirmation: any of its actions dismisses it.
public struct Alert<Action: Sendable>: Reducer {
  public typealias State = AlertState<Action>
  public typealias Body = Never
  public typealias Prepared = CountingReducer<Alert>

  public init() {}

  public func reduce(into state: inout AlertState<Action>, action: Action) -> Effect<Action> {
    .dismiss
  }
}
