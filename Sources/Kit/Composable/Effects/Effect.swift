/// What a reducer wants done besides its change of state.
///
/// `.none` is a null reference and costs nothing; anything else is one small object. Effects reach
/// their store weakly and end with the child that started them.
public struct Effect<Action: Sendable> {
  @usableFromInline
  enum Operation {
    case send(Action)
    case run(RunEffect<Action>)
    case limit(LimitedEffect<Action>)
    case cancel(EffectID)
    /// Ends a child's effects unless they were started by the one that is there.
    case endScope(ScopeKey, unless: ChildIdentity?)
    /// Ends the effects of elements that are gone.
    case endElements(Int, isPresent: (EffectScope) -> Bool)
    /// An action reached a child that does not exist.
    case absentChild
    /// A presented child wants to go.
    case dismiss
    /// A child wants to go, and nobody can do that.
    case strayDismissal
    case scoped(ScopeKey, ChildIdentity, ChildEffects?, Effect<Action>)
    case many([Effect<Action>])
    /// Each begins when the one before it has ended.
    case sequence([Effect<Action>])
  }

  // A reference, so that moving an effect through the levels of a composition moves one word. Classes of
  // their own for the two that are most frequent, this one and `RunEffect`: to destroy an operation, whose
  // type is generic over the action, takes a look-up of metadata, longer than all else about such effects.
  @usableFromInline
  class Box {
    @usableFromInline
    enum Kind {
      case action
      case run
      case operation
    }

    @usableFromInline final let kind: Kind
    @inlinable init(_ kind: Kind) { self.kind = kind }
  }

  @usableFromInline
  final class ActionBox: Box {
    @usableFromInline let action: Action

    @inlinable
    init(_ action: Action) {
      self.action = action
      super.init(.action)
    }
  }

  @usableFromInline
  final class OperationBox: Box {
    @usableFromInline let operation: Operation

    @inlinable
    init(_ operation: Operation) {
      self.operation = operation
      super.init(.operation)
    }
  }

  @usableFromInline let box: Box?

  @inlinable
  init(_ box: Box?) { self.box = box }

  @inlinable
  init(operation: Operation) { self.box = OperationBox(operation) }

  @inlinable var operation: Operation? {
    guard let box else { return nil }
    switch box.kind {
    case .action: return .send(unsafeDowncast(box, to: ActionBox.self).action)
    case .run: return .run(unsafeDowncast(box, to: RunEffect<Action>.self))
    case .operation: return unsafeDowncast(box, to: OperationBox.self).operation
    }
  }

  /// What it sends, if that is all it does.
  @inlinable var action: Action? {
    guard let box, box.kind == .action else { return nil }
    return unsafeDowncast(box, to: ActionBox.self).action
  }

  /// Nothing.
  @inlinable public static var none: Effect { Effect(nil) }

  /// Whether there is nothing to do.
  @inlinable public var isNone: Bool { box == nil }

  /// Sends `action` after the current one and those queued before it. No task, no hop.
  @inlinable
  public static func send(_ action: Action) -> Effect { Effect(ActionBox(action)) }

  /// Makes the presenting parent dismiss the child that returns this; see
  /// ``PresentationAction/dismiss``. A child that the parent puts there in the same action stays.
  ///
  /// A screen of a ``StackState`` is popped, with the screens above it.
  @inlinable
  public static var dismiss: Effect { Effect(operation: .dismiss) }

  /// Starts a task.
  ///
  /// It runs on the lane's executor unless `onLane` is false; then on the shared pool. An error that
  /// `handler` does not take is reported to the store's ``Store/onFailure``; cancellation is not an
  /// error.
  /// - Parameter name: names the effect in reports (``Store/runningEffectNames``,
  ///   ``Lane/taskExecutor(named:)``); the type of the reducer is a good one. Failures add the file and the
  ///   line to an effect without a name.
  @inlinable
  public static func run(
    name: String? = nil, priority: TaskPriority? = nil, onLane: Bool = true,
    _ operation:
      nonisolated(nonsending) @escaping @Sendable (_ send: Send<Action>) async throws
      -> Void,
    catch handler: (
      nonisolated(nonsending) @Sendable (_ error: any Error, _ send: Send<Action>) async -> Void
    )? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Effect {
    Effect(
      RunEffect(
        name: name ?? "effect", place: name == nil ? EffectPlace(fileID, line) : nil,
        rawPriority: priority?.rawValue, onLane: onLane, marks: [], operation: operation,
        handler: handler))
  }

  /// All of `effects`, started in order.
  @inlinable
  public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

  /// All of `effects`, started in order.
  @inlinable
  public static func merge(_ effects: some Sequence<Effect>) -> Effect {
    var result = Effect.none
    for effect in effects { result = result.followed(by: effect) }
    return result
  }

  /// Cancels the effects of this reducer that were marked with `id`, whether they run or a limit
  /// holds them back. Those of its children have identifiers of their own: see ``cancel(id:in:)``.
  @inlinable
  public static func cancel(id: some Hashable & Sendable) -> Effect {
    Effect(operation: .cancel(EffectID(id)))
  }

  /// Lets ``cancel(id:)`` end this effect.
  ///
  /// Identifiers are local to the store and to the child whose reducer returns the effect: rows of a
  /// list may use the same one without meeting.
  @inlinable
  public func cancellable(id: some Hashable & Sendable, cancelInFlight: Bool = false) -> Effect {
    let id = EffectID(id)
    let marked = marked(EffectMark(id))
    return cancelInFlight ? Effect(operation: .cancel(id)).followed(by: marked) : marked
  }

  @usableFromInline
  func marked(_ mark: EffectMark) -> Effect {
    switch operation {
    case nil, .send, .cancel, .endScope, .endElements, .absentChild, .dismiss, .strayDismissal:
      return self
    case .run(let run): return run.marks.contains(mark) ? self : Effect(run.marked(mark))
    case .limit(var limited):
      if !limited.marks.contains(mark) { limited.marks.append(mark) }
      return Effect(operation: .limit(limited))
    case .scoped(let key, let identity, let owner, let effect):
      return Effect(operation: .scoped(key, identity, owner, effect.marked(mark.outside)))
    case .many(let effects):
      return Effect(operation: .many(effects.map { $0.marked(mark) }))
    case .sequence(let effects):
      return Effect(operation: .sequence(effects.map { $0.marked(mark) }))
    }
  }
}
