import Platform

/// Limits how many tasks run at once; the others wait in the order of their arrival.
package final class WorkSlots: Sendable {
  private struct State {
    var free: Int
    var number: UInt64 = 0
    var waiting: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
  }

  private let state: Guarded<State>
  /// How many may wait.
  private let maximumWaiting: Int

  package struct Full: Error {}

  /// How many wait.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  package init(count: Int, maximumWaiting: Int = 16) {
    state = Guarded(State(free: count))
    self.maximumWaiting = maximumWaiting
  }

  /// Runs `body` once a slot is free.
  ///
  /// - Parameter isNew: whether it may be refused; work that has begun may wait for its next part
  ///   however many others are waiting.
  /// - Throws: ``Full`` if too many wait already; `CancellationError`; what `body` throws.
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

  /// Passes the slot to the task that has waited longest.
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
