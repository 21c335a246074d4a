/// A question about something that the person has just done, with the answers as a list of buttons.
///
/// The same as an ``AlertState``: what shows it decides how it looks.
public typealias ConfirmationDialogState<Action> = AlertState<Action>

extension AlertState {
  /// An alert in three parts.
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
  /// A button to list in an ``AlertState``.
  public init(role: Role? = nil, action: Action? = nil, label: () -> String) {
    self.init(label(), role: role, action: action)
  }
}

/// Lists the buttons of an ``AlertState``.
@resultBuilder
public enum ButtonsBuilder<Action> {
  /// One button.
  public static func buildExpression(_ button: ButtonState<Action>) -> [ButtonState<Action>] {
    [button]
  }

  /// Buttons one after the other.
  public static func buildBlock(_ parts: [ButtonState<Action>]...) -> [ButtonState<Action>] {
    parts.flatMap { $0 }
  }

  /// An `if` without an `else`.
  public static func buildOptional(_ buttons: [ButtonState<Action>]?) -> [ButtonState<Action>] {
    buttons ?? []
  }

  /// The first branch of an `if` or a `switch`.
  public static func buildEither(first: [ButtonState<Action>]) -> [ButtonState<Action>] { first }

  /// The other branches.
  public static func buildEither(second: [ButtonState<Action>]) -> [ButtonState<Action>] { second }

  /// A `for`.
  public static func buildArray(_ parts: [[ButtonState<Action>]]) -> [ButtonState<Action>] {
    parts.flatMap { $0 }
  }
}
