extension Effect {
  /// Sends an action for each element of an asynchronous sequence, until that ends or the effect is
  /// cancelled.
  ///
  ///     case .opened:
  ///       return .run(sequence: client.messages()) { .received($0) }.cancellable(id: "messages")
  ///
  /// An error of the sequence is reported to the store's ``Store/onFailure``.
  /// - Parameter sequence: evaluated when the effect starts.
  public static func run<Elements: AsyncSequence & Sendable>(
    name: String = "sequence", priority: TaskPriority? = nil, onLane: Bool = true,
    sequence: @autoclosure @escaping @Sendable () -> Elements,
    _ action: @escaping @Sendable (Elements.Element) -> Action
  ) -> Effect {
    .run(name: name, priority: priority, onLane: onLane) { send in
      for try await element in sequence() { send(action(element)) }
    }
  }

  /// Runs `effects` one after the other: each begins when the one before it has returned.
  ///
  ///     return .concatenate(.run { _ in try await player.stop() }, .send(.stopped))
  ///
  /// The tasks among them become one task, with the name and priority of the first; an error that its
  /// effect does not catch, or a cancellation, ends them all. Actions arrive in their order. Effects
  /// that are no task, such as ``cancel(id:)``, take effect at once if they come first; after a task,
  /// only tasks, actions and merges of these are allowed.
  public static func concatenate(_ effects: Effect...) -> Effect { concatenate(effects) }

  /// Runs `effects` one after the other; see ``concatenate(_:)-(Effect...)``.
  public static func concatenate(_ effects: some Sequence<Effect>) -> Effect {
    var first = Effect.none
    var parts: [SequencePart<Action>] = []
    for effect in effects where !effect.isNone {
      if case .run? = effect.operation {
      } else if parts.isEmpty, !effect.hasTask {
        first = first.followed(by: effect)
        continue
      }
      guard let part = SequencePart(effect) else {
        preconditionFailure(
          "after a task, concatenate(_:) takes tasks, actions and merges of these")
      }
      parts.append(part)
    }
    guard let (name, rawPriority, onLane, ids) = parts.lazy.compactMap(\.task).first else {
      return first
    }
    let all = parts
    let run = RunEffect<Action>(
      name: name, rawPriority: rawPriority, onLane: onLane, ids: ids,
      operation: { send in
        for part in all {
          try await part.run(send)
          try Task.checkCancellation()
        }
      }, handler: nil)
    return first.followed(by: Effect(run))
  }

  private var hasTask: Bool {
    switch operation {
    case .run: true
    case .many(let effects): effects.contains(where: \.hasTask)
    default: false
    }
  }
}

/// One step of effects that run one after the other.
private indirect enum SequencePart<Action: Sendable>: Sendable {
  case send(Action)
  case run(RunEffect<Action>)
  case together([SequencePart])

  init?(_ effect: Effect<Action>) {
    switch effect.operation {
    case .send(let action): self = .send(action)
    case .run(let run): self = .run(run)
    case .many(let effects):
      var parts: [SequencePart] = []
      for effect in effects {
        guard let part = SequencePart(effect) else { return nil }
        parts.append(part)
      }
      self = .together(parts)
    default: return nil
    }
  }

  typealias TaskTraits = (
    name: String, rawPriority: UInt8?, onLane: Bool, ids: [EffectID]
  )

  var task: TaskTraits? {
    switch self {
    case .send: nil
    case .run(let run): (run.name, run.rawPriority, run.onLane, run.ids)
    case .together(let parts): parts.lazy.compactMap(\.task).first
    }
  }

  func run(_ send: Send<Action>) async throws {
    switch self {
    case .send(let action): send(action)
    case .run(let run):
      do {
        try await run.operation(send)
      } catch let error as CancellationError {
        throw error
      } catch {
        guard let handler = run.handler else { throw error }
        await handler(error, send)
      }
    case .together(let parts):
      try await withThrowingTaskGroup(of: Void.self) { group in
        for part in parts { group.addTask { try await part.run(send) } }
        try await group.waitForAll()
      }
    }
  }
}

extension Effect where Action: CasePathable {
  /// Cancels the effects of a child that it marked with `id`.
  ///
  ///     case .mutedAll: return .cancel(id: "typing", in: \.chat)
  ///
  /// - Parameter child: the case of the child's actions.
  public static func cancel<Case: CaseLens>(
    id: some Hashable & Sendable, in child: KeyPath<Action.CaseLenses, Case>
  ) -> Effect where Case.Root == Action {
    Effect(operation: .scoped(ScopeKey(tag: Case.tag), .any, nil, .cancel(id: id)))
  }

  /// Cancels the effects that the element with the key `element` marked with `id`.
  public static func cancel<Case: CaseLens, ID: Hashable & Sendable, Child>(
    id: some Hashable & Sendable, in child: KeyPath<Action.CaseLenses, Case>, element: ID
  ) -> Effect where Case.Root == Action, Case.Value == ElementAction<ID, Child> {
    let key = ScopeKey(tag: Case.tag, element: EffectID(element))
    return Effect(operation: .scoped(key, .any, nil, .cancel(id: id)))
  }
}
