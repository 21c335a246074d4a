import Dispatch
import Synchronization

/// A disk that stops answering when a test says so, and goes on when it says so.
package final class StuckDisk: Sendable {
  private let isStuck = Atomic<Bool>(false)
  private let gate = DispatchSemaphore(value: 0)
  private let entered = AsyncStream.makeStream(of: Void.self)

  package init() {}

  /// From now on nobody gets an answer.
  package func stick() { isStuck.store(true, ordering: .relaxed) }

  /// Answers the one that waits, and all others.
  package func release() {
    isStuck.store(false, ordering: .relaxed)
    gate.signal()
  }

  /// What the disk does for each request: waits while it is stuck.
  package func answer() {
    guard isStuck.load(ordering: .relaxed) else { return }
    entered.continuation.yield()
    gate.wait()
  }

  /// Returns once a request waits.
  package func hasCaught() async {
    for await _ in entered.stream { return }
  }
}
