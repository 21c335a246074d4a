extension Store {
  /// Sends `action` like ``send(_:)``. Returns a handle to the effects that the action starts, and
  /// to the effects that are started by actions of those effects. Untracked sends have no
  /// additional cost.
  public func start(_ action: Action) -> SentEffects<State, Action> {
    let origin = turn + 1
    within(origin) { send(action) }
    return SentEffects(store: self, origin: origin)
  }
}

/// The effects of one action, and the effects that are started by actions of those effects. Holds a
/// reference to the store. Not `Sendable`: use it on the store's lane.
public struct SentEffects<State: ObservableState, Action: Sendable> {
  let store: Store<State, Action>
  let origin: UInt64

  /// Whether any of the effects is running.
  public var isRunning: Bool { store.effects.isRunning(origin: origin) }

  /// Cancels the effects. O(n) in the number of running effects of the store.
  public func cancel() { store.effects.cancel(origin: origin) }

  /// Waits until all of the effects have ended. Returns immediately if none is running.
  public nonisolated(nonsending) func finish() async {
    guard isRunning else { return }
    await withCheckedContinuation { store.effects.wait(for: origin, $0) }
  }
}
