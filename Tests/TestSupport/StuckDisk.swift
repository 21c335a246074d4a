import Dispatch
import Synchronization

/// A disk that stops answering when a test says so, and goes on for good when it says so.
package final class StuckDisk: Sendable {
  private enum State { case quick, stuck, released }

  private let state = Mutex(State.quick)
  private let gate = DispatchSemaphore(value: 0)
  private let entered = AsyncStream.makeStream(of: Void.self)

  package init() {}

  /// From now on no request is answered, unless the disk was released before.
  package func stick() { state.withLock { if $0 == .quick { $0 = .stuck } } }

  /// Answers the request that waits, and all later ones.
  package func release() {
    state.withLock { $0 = .released }
    gate.signal()
  }

  /// What the disk does for each request: waits while it is stuck.
  package func answer() {
    guard state.withLock({ $0 == .stuck }) else { return }
    entered.continuation.yield()
    gate.wait()
  }

  /// Returns once a request waits.
  package func hasCaught() async {
    for await _ in entered.stream { return }
  }
}
