/// A task that a reducer wants started. Never changes.
@usableFromInline
final class RunEffect<Action: Sendable>: Effect<Action>.Box, @unchecked Sendable {
  /// Names the task in reports.
  @usableFromInline let name: String
  /// Where it was made, if it was given no name.
  @usableFromInline let place: EffectPlace?
  // Not a `TaskPriority`, whose size may change with the system's library: with it, effects would be
  // copied and destroyed by way of metadata.
  @usableFromInline let rawPriority: UInt8?
  @usableFromInline let onLane: Bool
  /// Identifiers by which it can be cancelled.
  @usableFromInline let marks: [EffectMark]
  // On the executor of the task: without `nonsending` each call would ask for it anew, and each return.
  @usableFromInline let operation:
    nonisolated(nonsending) @Sendable (Send<Action>) async throws -> Void
  @usableFromInline let handler:
    (nonisolated(nonsending) @Sendable (any Error, Send<Action>) async -> Void)?

  @inlinable
  init(
    name: String, place: EffectPlace?, rawPriority: UInt8?, onLane: Bool, marks: [EffectMark],
    operation: nonisolated(nonsending) @escaping @Sendable (Send<Action>) async throws -> Void,
    handler: (nonisolated(nonsending) @Sendable (any Error, Send<Action>) async -> Void)?
  ) {
    self.name = name
    self.place = place
    self.rawPriority = rawPriority
    self.onLane = onLane
    self.marks = marks
    self.operation = operation
    self.handler = handler
    super.init(.run)
  }

  @inlinable var priority: TaskPriority? { rawPriority.map { TaskPriority(rawValue: $0) } }

  /// The same with one more identifier.
  @usableFromInline
  func marked(_ mark: EffectMark) -> RunEffect {
    RunEffect(
      name: name, place: place, rawPriority: rawPriority, onLane: onLane, marks: marks + [mark],
      operation: operation,
      handler: handler)
  }

  @inlinable
  func map<Parent: Sendable>(_ transform: @escaping (Action) -> Parent) -> RunEffect<Parent> {
    // Embeddings of cases are pure functions without captured state of a lane.
    nonisolated(unsafe) let transform = transform
    let operation = operation
    var parentHandler: (nonisolated(nonsending) @Sendable (any Error, Send<Parent>) async -> Void)?
    if let handler {
      parentHandler = { error, send in await handler(error, send.pullback(transform)) }
    }
    return RunEffect<Parent>(
      name: name, place: place, rawPriority: rawPriority, onLane: onLane, marks: marks,
      operation: { send in try await operation(send.pullback(transform)) },
      handler: parentHandler)
  }
}

/// A line of source code.
@usableFromInline
struct EffectPlace: Sendable {
  let fileID: StaticString
  // 32 bits fit into the padding of the other.
  let line: UInt32

  @usableFromInline
  init(_ fileID: StaticString, _ line: UInt) {
    self.fileID = fileID
    self.line = UInt32(truncatingIfNeeded: line)
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
