/// A task that a reducer asks the store to start. Immutable.
@usableFromInline
final class RunEffect<Action: Sendable>: Effect<Action>.Box, @unchecked Sendable {
  /// The name of the task in reports.
  @usableFromInline let name: String
  /// The source location, if the effect has no name.
  @usableFromInline let location: EffectLocation?
  // Not a `TaskPriority`: the size of that type may change with the system's library, so effects
  // that contain it would be copied and destroyed through metadata.
  @usableFromInline let rawPriority: UInt8?
  @usableFromInline let onLane: Bool
  /// The identifiers that cancel the effect.
  @usableFromInline let marks: [EffectMark]
  // Without `nonsending`, each call and each return would look up the task's executor.
  @usableFromInline let operation:
    nonisolated(nonsending) @Sendable (Send<Action>) async throws -> Void
  @usableFromInline let handler:
    (nonisolated(nonsending) @Sendable (any Error, Send<Action>) async -> Void)?

  @inlinable
  init(
    name: String, location: EffectLocation?, rawPriority: UInt8?, onLane: Bool, marks: [EffectMark],
    operation: nonisolated(nonsending) @escaping @Sendable (Send<Action>) async throws -> Void,
    handler: (nonisolated(nonsending) @Sendable (any Error, Send<Action>) async -> Void)?
  ) {
    self.name = name
    self.location = location
    self.rawPriority = rawPriority
    self.onLane = onLane
    self.marks = marks
    self.operation = operation
    self.handler = handler
    super.init(.run)
  }

  @inlinable var priority: TaskPriority? { rawPriority.map { TaskPriority(rawValue: $0) } }

  /// Returns the effect with one more identifier that cancels it.
  @usableFromInline
  func marked(_ mark: EffectMark) -> RunEffect {
    RunEffect(
      name: name, location: location, rawPriority: rawPriority, onLane: onLane,
      marks: marks + [mark],
      operation: operation,
      handler: handler)
  }

  @inlinable
  func map<Parent: Sendable>(_ transform: @escaping (Action) -> Parent) -> RunEffect<Parent> {
    // Closures that embed actions in cases are pure functions and capture no state of a lane.
    nonisolated(unsafe) let transform = transform
    let operation = operation
    var parentHandler: (nonisolated(nonsending) @Sendable (any Error, Send<Parent>) async -> Void)?
    if let handler {
      parentHandler = { error, send in await handler(error, send.pullback(transform)) }
    }
    return RunEffect<Parent>(
      name: name, location: location, rawPriority: rawPriority, onLane: onLane, marks: marks,
      operation: { send in try await operation(send.pullback(transform)) },
      handler: parentHandler)
  }
}

@usableFromInline
struct EffectLocation: Sendable {
  let fileID: StaticString
  // 32 bits fit into the padding of `fileID`.
  let line: UInt32

  @usableFromInline
  init(_ fileID: StaticString, _ line: UInt) {
    self.fileID = fileID
    self.line = UInt32(truncatingIfNeeded: line)
  }
}

/// Sends actions from an effect to its store.
///
/// Can be called from any thread. Actions arrive in order; the lane is woken once per batch.
/// Sending has no effect after the effect was cancelled or the store was deallocated.
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

  /// Makes a `Send` for an effect that is run without a store.
  @inlinable
  public init(post: @escaping @Sendable (consuming [Action]) -> Void) {
    self.init(postOne: { post([$0]) }, postAll: { post($0) })
  }

  /// Sends `action`.
  @inlinable
  public func callAsFunction(_ action: Action) { postOne(action) }

  /// Sends several actions as one batch.
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
