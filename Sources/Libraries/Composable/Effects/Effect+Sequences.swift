extension Effect {
  /// Sends an action for each element of an asynchronous sequence, until the sequence ends or the
  /// effect is cancelled.
  ///
  ///     case .opened:
  ///       return .run(sequence: client.messages()) { .received($0) }.cancellable(id: "messages")
  ///
  /// An error of the sequence is reported to the store's ``Store/onFailure``.
  /// - Parameter sequence: An expression that is evaluated when the effect starts.
  public static func run<Elements: AsyncSequence & Sendable>(
    name: String = "sequence", priority: TaskPriority? = nil, onLane: Bool = true,
    sequence: @autoclosure @escaping @Sendable () -> Elements,
    _ action: @escaping @Sendable (Elements.Element) -> Action
  ) -> Effect {
    .run(name: name, priority: priority, onLane: onLane) { send in
      for try await element in sequence() { send(action(element)) }
    }
  }

  /// Runs `effects` in sequence. Each part begins when the previous part has ended, including its
  /// tasks, effects of children, and effects that a throttle or debounce holds back.
  ///
  ///     return .concatenate(.run { _ in try await player.stop() }, .send(.stopped))
  ///
  /// Parts that take no time, such as ``send(_:)`` and ``cancel(id:)``, end immediately. If one of
  /// a part's effects is cancelled, throws an uncaught error, is dropped by a throttle or debounce,
  /// or ends with its child, then the sequence ends and the following parts do not begin. Other
  /// effects of the same part continue.
  public static func concatenate(_ effects: Effect...) -> Effect { concatenate(effects) }

  /// Runs `effects` in sequence; see ``concatenate(_:)-(Effect...)``.
  public static func concatenate(_ effects: some Sequence<Effect>) -> Effect {
    let parts = effects.filter { !$0.isNone }
    return parts.count > 1 ? Effect(operation: .sequence(parts)) : parts.first ?? .none
  }
}

extension Effect where Action: CasePathable {
  /// Cancels those effects of a child that the child itself marked with `id`.
  ///
  ///     case .mutedAll: return .cancel(id: "typing", in: \.chat)
  ///
  /// - Parameter child: The case of the child's actions.
  public static func cancel<Case: CaseLens>(
    id: some Hashable & Sendable, in child: KeyPath<Action.CaseLenses, Case>
  ) -> Effect where Case.Root == Action {
    Effect(operation: .scoped(ScopeKey(tag: Case.tag), .any, nil, .cancel(id: id)))
  }

  /// Cancels those effects of the element with the key `element` that the element itself marked
  /// with `id`.
  public static func cancel<Case: CaseLens, ID: Hashable & Sendable, Child>(
    id: some Hashable & Sendable, in child: KeyPath<Action.CaseLenses, Case>, element: ID
  ) -> Effect where Case.Root == Action, Case.Value == ElementAction<ID, Child> {
    let key = ScopeKey(tag: Case.tag, element: EffectID(element))
    return Effect(operation: .scoped(key, .any, nil, .cancel(id: id)))
  }
}
