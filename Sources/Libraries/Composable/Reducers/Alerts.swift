/// The state of an alert over a screen: a title, a message, and buttons that send actions.
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
/// Each button dismisses the alert after its action was reduced, unless the parent assigns another
/// alert while reducing that action. An assigned alert counts as a new alert, even if it equals the
/// previous alert.
public struct AlertState<Action> {
  /// The question or statement, in a few words.
  public var title: String
  /// The text below the title; empty if the title suffices.
  public var message: String
  /// The buttons, in the order in which they are shown.
  public var buttons: [ButtonState<Action>]

  /// Makes an alert. Assign the alert to a field of the parent's state to show it.
  public init(_ title: String, message: String = "", buttons: [ButtonState<Action>] = []) {
    self.title = title
    self.message = message
    self.buttons = buttons
  }
}

/// A button of an ``AlertState``.
public struct ButtonState<Action> {
  /// The meaning of a button.
  public enum Role: Hashable, Sendable {
    /// Cancels; shown in the platform's usual position for such buttons, with the usual key.
    case cancel
    /// Deletes or discards something; shown as a warning.
    case destructive
  }

  /// The title: a verb that describes the effect of the button.
  public var title: String
  /// The role, or `nil` for an ordinary button.
  public var role: Role?
  /// The action, or `nil` for a button that only dismisses the alert.
  public var action: Action?

  /// Makes a button for an ``AlertState``.
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
  /// Called before `set` of an alert. A new alert counts as a change, even if it is equal.
  @inlinable
  public mutating func set<Action: Equatable>(
    _ index: Int, from old: AlertState<Action>?, to new: AlertState<Action>?
  ) {
    if old != nil || new != nil { write(index) }
  }
}

/// The reducer of an alert or a confirmation dialog. Every action dismisses it.
public struct Alert<Action: Sendable>: Reducer {
  public typealias State = AlertState<Action>
  public typealias Body = Never
  public typealias Prepared = CountingReducer<Alert>

  public init() {}

  public func reduce(into state: inout AlertState<Action>, action: Action) -> Effect<Action> {
    .dismiss
  }
}
