import Glibc
import Synchronization

/// Signals that arrive before the daemon can handle them: SIGHUP (reload), SIGTERM and SIGINT
/// (stop).
///
/// By default, each of these signals would kill the process. Instead, the signals are recorded, and
/// sent again once the daemon traps them.
package enum EarlySignals {
  /// Bit N is set if signal N has arrived.
  private static let seen = Atomic<UInt64>(0)

  /// Records these signals until they are trapped.
  package static func record(_ numbers: Int32...) {
    // The lazy static is initialised here, because a signal handler must not wait for its
    // initialisation.
    _ = seen.load(ordering: .relaxed)
    for number in numbers {
      signal(number) { EarlySignals.seen.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
    }
  }

  /// Sends each recorded signal to this process again. Must be called after the signals are
  /// trapped.
  static func resend(_ numbers: Int32...) {
    let seen = seen.load(ordering: .relaxed)
    for number in numbers where seen & 1 << UInt64(number) != 0 { kill(getpid(), number) }
  }
}
