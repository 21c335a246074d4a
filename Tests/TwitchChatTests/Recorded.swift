import Synchronization

/// A list that tests wait for. The time limit of the test ends a wait that is in vain.
final class Recorded: Sendable {
  private struct State {
    var entries: [String] = []
    var waiting:
      [(isMet: @Sendable ([String]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var entries: [String] { state.withLock { $0.entries } }

  func append(_ entry: String) {
    let met = state.withLock { state in
      state.entries.append(entry)
      let entries = state.entries
      let met = state.waiting.filter { $0.isMet(entries) }
      state.waiting.removeAll { $0.isMet(entries) }
      return met.map(\.continuation)
    }
    for continuation in met { continuation.resume() }
  }

  /// Waits until the entries are as they should be.
  func wait(_ isMet: @escaping @Sendable ([String]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetNow = state.withLock { state in
        if isMet(state.entries) { return true }
        state.waiting.append((isMet, continuation))
        return false
      }
      if isMetNow { continuation.resume() }
    }
  }
}
