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
/// Each button dismisses the alert, after its action was reduced.
public struct AlertState<Action> {
  public var title: String
  public var message: String
  public var buttons: [ButtonState<Action>]

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
    case cancel
    case destructive
  }

  public var title: String
  public var role: Role?
  /// `nil` for a button that only dismisses.
  public var action: Action?

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
