/// The effects that a reducer returns, to be run by the store.
///
/// `.none` is a null reference and costs nothing; any other effect is one small object. Effects
/// reference their store weakly and end with the child that started them.
public struct Effect<Action: Sendable> {
  @usableFromInline
  enum Operation {
    case send(Action)
    case run(RunEffect<Action>)
    case limit(LimitedEffect<Action>)
    case cancel(EffectID)
    /// Ends a child's effects unless they belong to the current child.
    case endScope(ScopeKey, unless: ChildIdentity?)
    /// Ends the effects of removed elements.
    case endElements(Int, isPresent: (EffectScope) -> Bool)
    /// Counts an action for a child that does not exist.
    case absentChild
    /// Asks the parent to dismiss a presented child.
    case dismiss
    /// Reports a dismissal that no parent can perform.
    case strayDismissal
    case scoped(ScopeKey, ChildIdentity, ChildEffects?, Effect<Action>)
    case many([Effect<Action>])
    /// Starts each part when the previous part has ended.
    case sequence([Effect<Action>])
  }

  // A reference, so that passing an effect through a composition moves one word. The two most
  // frequent kinds, `ActionBox` and `RunEffect`, contain no `Operation`: that type is generic over
  // the action, and the metadata look-up to destroy it would cost more than the rest of the effect.
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

  /// The action, if sending it is all that the effect does.
  @inlinable var action: Action? {
    guard let box, box.kind == .action else { return nil }
    return unsafeDowncast(box, to: ActionBox.self).action
  }

  /// An effect that does nothing.
  @inlinable public static var none: Effect { Effect(nil) }

  /// Whether the effect does nothing.
  @inlinable public var isNone: Bool { box == nil }

  /// Sends `action` after the current and all queued actions, without a task or change of thread.
  @inlinable
  public static func send(_ action: Action) -> Effect { Effect(ActionBox(action)) }

  /// Asks the presenting parent to dismiss the child that returns this effect; see
  /// ``PresentationAction/dismiss``. A new child that the parent presents in the same action stays.
  ///
  /// A screen of a ``StackState`` is popped, together with the screens above it.
  @inlinable
  public static var dismiss: Effect { Effect(operation: .dismiss) }

  /// Starts a task.
  ///
  /// The task runs on the lane's executor, or on the shared pool if `onLane` is false. An error
  /// that `handler` does not handle, except a cancellation, is reported to ``Store/onFailure``.
  /// - Parameter name: The name of the effect in reports (``Store/runningEffectNames``,
  ///   ``Lane/taskExecutor(named:)``), for example the type of the reducer. For an effect without a
  ///   name, failures show the file and the line.
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
        name: name ?? "effect", location: name == nil ? EffectLocation(fileID, line) : nil,
        rawPriority: priority?.rawValue, onLane: onLane, marks: [], operation: operation,
        handler: handler))
  }

  /// Runs all of `effects` concurrently, started in order.
  @inlinable
  public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

  /// Runs all of `effects` concurrently, started in order.
  @inlinable
  public static func merge(_ effects: some Sequence<Effect>) -> Effect {
    var result = Effect.none
    for effect in effects { result = result.followed(by: effect) }
    return result
  }

  /// Cancels the effects of this reducer that were marked with `id`, either running or held back by
  /// a throttle or debounce. Children have separate identifiers: see ``cancel(id:in:)``.
  @inlinable
  public static func cancel(id: some Hashable & Sendable) -> Effect {
    Effect(operation: .cancel(EffectID(id)))
  }

  /// Makes this effect cancellable by ``cancel(id:)``.
  ///
  /// Identifiers are local to the store and to the child whose reducer returns the effect. Rows of
  /// a list can therefore use the same identifier.
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
