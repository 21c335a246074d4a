import Synchronization

/// A list whose entries tests can wait for. The test's time limit ends a wait that is never
/// satisfied.
package final class Recorded: Sendable {
  private struct Waiter {
    let isMet: @Sendable (String) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var entries: [String] = []
    var waiters: [Int: Waiter] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var entries: [String] { state.withLock { $0.entries } }

  package func append(_ entry: String) {
    let met = state.withLock { state in
      state.entries.append(entry)
      let met = state.waiters.filter { $0.value.isMet(entry) }
      for id in met.keys { state.waiters[id] = nil }
      return met.values.map(\.continuation)
    }
    for continuation in met { continuation.resume() }
  }

  /// Waits for an entry, which may already be in the list.
  package func wait(for isMet: @escaping @Sendable (String) -> Bool) async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isMetNow = state.withLock { state in
          if Task.isCancelled || state.entries.contains(where: isMet) { return true }
          state.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
          return false
        }
        if isMetNow { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
  }
}
