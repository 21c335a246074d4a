import CSystemSupport
import Glibc

/// Starts detached threads, which end when their body returns.
package enum ServiceThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts a detached thread with all signals blocked, because other threads handle signals. The
  /// kernel shows at most 15 bytes of `name`.
  package static func start(
    name: String, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    var blocked = sigset_t()
    var before = sigset_t()
    sigfillset(&blocked)
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        if let argument {
          Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        }
        return nil
      }, context.toOpaque())
    guard result == 0 else {
      context.release()
      throw SystemError(.startThread, code: result, context: name)
    }
    pthread_setname_np(thread, String(name.prefix(15)))
    pthread_detach(thread)
  }
}
