extension Store {
  /// Sends `action` like ``send(_:)`` and returns a handle to the effects that it starts, and to
  /// those that their actions start.
  ///
  /// A send that is not tracked pays nothing for this.
  public func start(_ action: Action) -> SentEffects<State, Action> {
    let origin = turn + 1
    within(origin) { send(action) }
    return SentEffects(store: self, origin: origin)
  }
}

/// The effects of one action, and of the actions that these send.
///
/// A value; it holds the store. Not `Sendable`: used on the store's lane.
public struct SentEffects<State: ObservableState, Action: Sendable> {
  let store: Store<State, Action>
  let origin: UInt64

  /// Whether one of them runs.
  public var isRunning: Bool { store.effects.isRunning(origin: origin) }

  /// Cancels them. O(running effects of the store).
  public func cancel() { store.effects.cancel(origin: origin) }

  /// Waits for the last of them to end. Returns at once if none runs.
  public nonisolated(nonsending) func finish() async {
    guard isRunning else { return }
    await withCheckedContinuation { store.effects.wait(for: origin, $0) }
  }
}
