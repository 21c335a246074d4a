/// A task that a reducer wants started.
public struct RunEffect<Action: Sendable>: Sendable {
  /// Names the task in reports.
  public let name: String
  @usableFromInline let priority: TaskPriority?
  @usableFromInline let onLane: Bool
  @usableFromInline let operation: @Sendable (Send<Action>) async throws -> Void
  @usableFromInline let handler: (@Sendable (any Error, Send<Action>) async -> Void)?
  /// Identifiers by which it can be cancelled.
  @usableFromInline var ids: [EffectID] = []

  @inlinable
  init(
    name: String, priority: TaskPriority?, onLane: Bool,
    operation: @escaping @Sendable (Send<Action>) async throws -> Void,
    handler: (@Sendable (any Error, Send<Action>) async -> Void)?
  ) {
    self.name = name
    self.priority = priority
    self.onLane = onLane
    self.operation = operation
    self.handler = handler
  }

  @inlinable
  func map<Parent: Sendable>(_ transform: @escaping (Action) -> Parent) -> RunEffect<Parent> {
    // Embeddings of cases are pure functions without captured state of a lane.
    nonisolated(unsafe) let transform = transform
    let operation = operation
    var parentHandler: (@Sendable (any Error, Send<Parent>) async -> Void)?
    if let handler {
      parentHandler = { error, send in await handler(error, send.pullback(transform)) }
    }
    var run = RunEffect<Parent>(
      name: name, priority: priority, onLane: onLane,
      operation: { send in try await operation(send.pullback(transform)) },
      handler: parentHandler)
    run.ids = ids
    return run
  }
}

/// Sends actions from an effect into its store.
///
/// Callable from any thread. Actions arrive in order, together with others that wait: one wake-up of
/// the lane per batch. Sending after the effect was cancelled, or after the store is gone, does nothing.
public struct Send<Action: Sendable>: Sendable {
  @usableFromInline let postOne: @Sendable (Action) -> Void
  @usableFromInline let postAll: @Sendable ([Action]) -> Void

  @inlinable
  init(
    postOne: @escaping @Sendable (Action) -> Void, postAll: @escaping @Sendable ([Action]) -> Void
  ) {
    self.postOne = postOne
    self.postAll = postAll
  }

  /// For effects that are run without a store.
  @inlinable
  public init(post: @escaping @Sendable (consuming [Action]) -> Void) {
    self.init(postOne: { post([$0]) }, postAll: { post($0) })
  }

  /// Sends `action`.
  @inlinable
  public func callAsFunction(_ action: Action) { postOne(action) }

  /// Sends several actions at once.
  @inlinable
  public func callAsFunction(contentsOf actions: [Action]) {
    if !actions.isEmpty { postAll(actions) }
  }

  @inlinable
  func pullback<Child: Sendable>(_ transform: @escaping (Child) -> Action) -> Send<Child> {
    nonisolated(unsafe) let transform = transform
    let (postOne, postAll) = (postOne, postAll)
    return Send<Child>(
      postOne: { postOne(transform($0)) }, postAll: { postAll($0.map(transform)) })
  }
}
