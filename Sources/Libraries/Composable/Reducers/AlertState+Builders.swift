/// A confirmation dialog for an action that the user has just requested, with a list of buttons.
/// The same type as ``AlertState``: only the view that shows the state decides whether it looks
/// like an alert or like a dialog.
public typealias ConfirmationDialogState<Action> = AlertState<Action>

extension AlertState {
  /// Makes an alert from a title, buttons and a message.
  ///
  ///     AlertState {
  ///       "Delete it?"
  ///     } actions: {
  ///       ButtonState(role: .destructive, action: .deleteConfirmed) { "Delete" }
  ///       ButtonState(role: .cancel) { "Keep" }
  ///     } message: {
  ///       "It cannot be restored."
  ///     }
  public init(
    title: () -> String, @ButtonsBuilder<Action> actions: () -> [ButtonState<Action>] = { [] },
    message: () -> String = { "" }
  ) {
    self.init(title(), message: message(), buttons: actions())
  }
}

extension ButtonState {
  /// Makes a button for an ``AlertState``.
  public init(role: Role? = nil, action: Action? = nil, label: () -> String) {
    self.init(label(), role: role, action: action)
  }
}

/// Builds the list of buttons of an ``AlertState``.
@resultBuilder
public enum ButtonsBuilder<Action> {
  /// Builds one button.
  public static func buildExpression(_ button: ButtonState<Action>) -> [ButtonState<Action>] {
    [button]
  }

  /// Builds a list of buttons.
  public static func buildBlock(_ parts: [ButtonState<Action>]...) -> [ButtonState<Action>] {
    parts.flatMap { $0 }
  }

  /// Builds an `if` without an `else`.
  public static func buildOptional(_ buttons: [ButtonState<Action>]?) -> [ButtonState<Action>] {
    buttons ?? []
  }

  /// Builds the first branch of an `if` or a `switch`.
  public static func buildEither(first: [ButtonState<Action>]) -> [ButtonState<Action>] { first }

  /// Builds the other branches.
  public static func buildEither(second: [ButtonState<Action>]) -> [ButtonState<Action>] { second }

  /// Builds a `for` loop.
  public static func buildArray(_ parts: [[ButtonState<Action>]]) -> [ButtonState<Action>] {
    parts.flatMap { $0 }
  }
}
