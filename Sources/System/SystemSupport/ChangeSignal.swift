import Locking

/// Wakes tasks that wait for a change of shared state.
package final class ChangeSignal: Sendable {
  private struct State {
    var next: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Guarded(State())

  package init() {}

  /// Wakes all waiting tasks. Call this after the change.
  package func raise() {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when ``raise()`` is called or the task is cancelled, or immediately if `mustWait`
  /// returns false. `mustWait` is called under the signal's lock, so that no later change is
  /// missed.
  package func wait(if mustWait: @Sendable () -> Bool) async {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          // A cancellation before this point finds no waiter, so it is checked under the lock.
          guard !Task.isCancelled, mustWait() else { return false }
          state.waiters[id] = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}
