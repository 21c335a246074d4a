import Locking

/// A server that is absent until it has started.
final class Server<Running: Sendable>: Sendable {
  private let running = Guarded<Running?>(nil)

  func withLock<R: Sendable>(_ body: (inout Running?) -> R) -> R {
    running.withLock { body(&$0) }
  }
}
