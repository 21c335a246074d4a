/// What a reducer wants done besides its change of state.
///
/// `.none` is a null reference and costs nothing; anything else is one small object. Effects reach
/// their store weakly and end with the child that started them.
public struct Effect<Action: Sendable> {
  @usableFromInline
  enum Operation {
    case send(Action)
    case run(RunEffect<Action>)
    case cancel(EffectID)
    case endScope(ScopeKey)
    /// An action reached a child that does not exist.
    case absentChild
    case scoped(ScopeKey, Effect<Action>)
    case many([Effect<Action>])
  }

  // A reference, so that moving an effect through the levels of a composition moves one word.
  @usableFromInline
  final class Box {
    @usableFromInline let operation: Operation
    @inlinable init(_ operation: Operation) { self.operation = operation }
  }

  @usableFromInline let box: Box?

  @inlinable
  init(_ box: Box?) { self.box = box }

  @inlinable
  init(operation: Operation) { self.box = Box(operation) }

  /// Nothing.
  @inlinable public static var none: Effect { Effect(nil) }

  /// Whether there is nothing to do.
  @inlinable public var isNone: Bool { box == nil }

  /// Sends `action` after the current one and those queued before it. No task, no hop.
  @inlinable
  public static func send(_ action: Action) -> Effect { Effect(operation: .send(action)) }

  /// Starts a task.
  ///
  /// It runs on the lane's executor unless `onLane` is false; then on the shared pool. An error that
  /// `handler` does not take is reported to the store's ``Store/onUncaughtError``; cancellation is
  /// not an error.
  /// - Parameter name: names the effect in reports; the type of the reducer is a good one.
  @inlinable
  public static func run(
    name: String = "effect", priority: TaskPriority? = nil, onLane: Bool = true,
    _ operation: @escaping @Sendable (_ send: Send<Action>) async throws -> Void,
    catch handler: (@Sendable (_ error: any Error, _ send: Send<Action>) async -> Void)? = nil
  ) -> Effect {
    Effect(
      operation: .run(
        RunEffect(
          name: name, priority: priority, onLane: onLane, operation: operation, handler: handler)))
  }

  /// All of `effects`, started in order.
  @inlinable
  public static func merge(_ effects: Effect...) -> Effect {
    var result = Effect.none
    for effect in effects { result.append(effect) }
    return result
  }

  /// Cancels the effects of this reducer's place that were marked with `id`.
  @inlinable
  public static func cancel(id: some Hashable & Sendable) -> Effect {
    Effect(operation: .cancel(EffectID(id)))
  }

  /// Lets ``cancel(id:)`` end this effect.
  ///
  /// Identifiers are local to the store and to the place of the reducer: rows of a list may use the
  /// same one without meeting.
  @inlinable
  public func cancellable(id: some Hashable & Sendable, cancelInFlight: Bool = false) -> Effect {
    let id = EffectID(id)
    var marked = marked(id)
    if cancelInFlight {
      let rest = marked
      marked = Effect(operation: .cancel(id))
      marked.append(rest)
    }
    return marked
  }

  @usableFromInline
  func marked(_ id: EffectID) -> Effect {
    switch box?.operation {
    case nil, .send, .cancel, .endScope, .absentChild: return self
    case .run(var run):
      run.ids.append(id)
      return Effect(operation: .run(run))
    case .scoped(let key, let effect):
      return Effect(operation: .scoped(key, effect.marked(id)))
    case .many(let effects):
      return Effect(operation: .many(effects.map { $0.marked(id) }))
    }
  }
}

extension Effect {
  @inlinable static var absentChild: Effect { Effect(operation: .absentChild) }

  @inlinable
  static func endScope(_ key: ScopeKey) -> Effect { Effect(operation: .endScope(key)) }

  /// Adds `other` behind this one.
  @inlinable
  mutating func append(_ other: Effect) {
    if other.isNone { return }
    if isNone {
      self = other
      return
    }
    if case .many(var effects)? = box?.operation {
      effects.append(other)
      self = Effect(operation: .many(effects))
    } else {
      self = Effect(operation: .many([self, other]))
    }
  }

  /// Places the effects below `key`, so that they end with that child.
  @inlinable
  func scoped(_ key: ScopeKey) -> Effect {
    switch box?.operation {
    case nil, .send, .absentChild: self
    case .run, .cancel, .endScope, .scoped, .many: Effect(operation: .scoped(key, self))
    }
  }

  /// The same effect, its actions mapped into those of a parent.
  ///
  ///     HeaderFeature().reduce(into: &state.header, action: .refresh).map(Action.header)
  @inlinable
  public func map<Parent: Sendable>(
    _ transform: @escaping (Action) -> Parent
  ) -> Effect<Parent> {
    switch box?.operation {
    case nil: .none
    case .send(let action): .send(transform(action))
    case .run(let run): Effect<Parent>(operation: .run(run.map(transform)))
    case .cancel(let id): Effect<Parent>(operation: .cancel(id))
    case .endScope(let key): .endScope(key)
    case .absentChild: .absentChild
    case .scoped(let key, let effect):
      Effect<Parent>(operation: .scoped(key, effect.map(transform)))
    case .many(let effects):
      Effect<Parent>(operation: .many(effects.map { $0.map(transform) }))
    }
  }
}

/// The place of a child among its parent's effects: the case of its actions and, in a collection, its
/// identifier.
public struct ScopeKey: Hashable, Sendable {
  @usableFromInline let tag: Int
  @usableFromInline let element: EffectID?

  @inlinable
  public init(tag: Int) {
    self.tag = tag
    self.element = nil
  }

  @inlinable
  public init(tag: Int, element: some Hashable & Sendable) {
    self.tag = tag
    self.element = EffectID(element)
  }
}

/// An identifier of effects, compared by type and value.
public struct EffectID: Hashable, Sendable {
  // `AnyHashable` is not `Sendable`; this one was made from a value that is.
  @usableFromInline nonisolated(unsafe) let value: AnyHashable
  @usableFromInline let type: ObjectIdentifier

  @inlinable
  public init<ID: Hashable & Sendable>(_ id: ID) {
    value = AnyHashable(id)
    type = ObjectIdentifier(ID.self)
  }
}
