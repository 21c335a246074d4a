/// The case of a stack's screens, for stacks whose actions can pop screens.
public protocol PoppingCaseLens: CaseLens {
  /// The action that takes away the screen with this number and those above it.
  static func popFrom(_ id: StackElementID) -> Root
}

extension ForEach {
  /// What becomes of the dismissal of an element: screens of a stack are popped, and for other elements it is
  /// left to a parent that presents them all.
  ///
  /// - Parameter isAtOnce: whether the element goes with the action in hand.
  @usableFromInline
  func dismissal(of id: ID, isAtOnce: Bool) -> Dismissal<Action> {
    guard let screen = id as? StackElementID else { return .pass }
    if let action = poppingAction(screen) { return .send(action) }
    return isAtOnce ? .drop : .report
  }

  /// The screens that go with the action in hand: the one with this key, if it dismisses itself and no action can do
  /// that, and those above.
  @usableFromInline
  func popped(by effect: Effect<Child.Action>, _ id: ID, in state: State) -> [ID] {
    guard let screen = id as? StackElementID, effect.dismissesAtOnce, poppingAction(screen) == nil
    else { return [] }
    return Lens.read(state) { Array($0.ids.drop { $0 != id }) }
  }

  private func poppingAction(_ id: StackElementID) -> Action? {
    (Case.self as? any PoppingCaseLens.Type).flatMap { $0.popFrom(id) as? Action }
  }
}

extension Effect {
  /// Whether a dismissal is among what it does without taking time.
  var dismissesAtOnce: Bool {
    switch operation {
    case .dismiss: true
    case .many(let effects): effects.contains(where: \.dismissesAtOnce)
    case .scoped(_, _, _, let effect): effect.dismissesAtOnce
    case .sequence(let effects):
      effects.prefix { !$0.takesTime }.contains(where: \.dismissesAtOnce)
        || effects.first(where: \.takesTime)?.dismissesAtOnce ?? false
    case nil, .send, .run, .limit, .cancel, .endScope, .endElements, .absentChild, .strayDismissal:
      false
    }
  }

  private var takesTime: Bool {
    switch operation {
    case .run, .limit: true
    case .many(let effects), .sequence(let effects): effects.contains(where: \.takesTime)
    case .scoped(_, _, _, let effect): effect.takesTime
    case nil, .send, .cancel, .endScope, .endElements, .absentChild, .dismiss, .strayDismissal:
      false
    }
  }
}
