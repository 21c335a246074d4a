import Locking
import SystemSupport

/// Limits the number of concurrent tasks. Further tasks wait in order of arrival.
package final class WorkSlots: Sendable {
  private struct State {
    var free: Int
    var number: UInt64 = 0
    var waiting: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
  }

  private let state: Guarded<State>
  private let maximumWaiting: Int

  /// The error for a new task if too many tasks are waiting.
  package struct Full: Error {}

  /// The number of waiting tasks.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  package init(count: Int, maximumWaiting: Int = 16) {
    state = Guarded(State(free: count))
    self.maximumWaiting = maximumWaiting
  }

  /// Waits for a free slot, then runs `body`.
  ///
  /// - Parameter isNew: Whether the call throws ``Full`` if too many tasks are waiting. Pass
  ///   `false` for the next step of a task that has already begun, which must not be refused.
  package func run<R>(isNew: Bool = true, _ body: () async throws -> R) async throws -> R {
    try await enter(isNew: isNew)
    defer { release() }
    return try await body()
  }

  private func enter(isNew: Bool) async throws {
    let number = try state.withLock { state in
      if isNew, state.free == 0, state.waiting.count >= maximumWaiting { throw Full() }
      state.number += 1
      return state.number
    }
    let isAdmitted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          if Task.isCancelled { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
      }
      waiting?.continuation.resume(returning: false)
    }
    if !isAdmitted { throw CancellationError() }
  }

  /// Passes the slot to the task that has waited longest, or frees it if no task is waiting.
  private func release() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.free += 1
        return nil as CheckedContinuation<Bool, Never>?
      }
      return state.waiting.removeFirst().continuation
    }
    next?.resume(returning: true)
  }
}
