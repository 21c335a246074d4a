/// The case of a stack's screens, for stacks with an action that pops screens.
public protocol PoppingCaseLens: CaseLens {
  /// Returns the action that removes the screen with this number and the screens above it.
  static func popFrom(_ id: StackElementID) -> Root
}

extension ForEach {
  /// Returns how a dismissal by an element is handled. Screens of a stack are popped. For other
  /// elements the dismissal is passed to a parent that presents the whole collection.
  ///
  /// - Parameter isAtOnce: Whether the current action removes the element.
  @usableFromInline
  func dismissal(of id: ID, isAtOnce: Bool) -> Dismissal<Action> {
    guard let screen = id as? StackElementID else { return .pass }
    if let action = poppingAction(screen) { return .send(action) }
    return isAtOnce ? .drop : .report
  }

  /// Returns the keys of the screens that the current action removes: this screen and those above
  /// it, if the screen dismisses itself and the stack has no action that pops screens.
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
  /// Whether the effect contains a dismissal that takes no time.
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
