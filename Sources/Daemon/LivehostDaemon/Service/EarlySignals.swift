import Glibc
import Synchronization

/// Signals that arrive before the daemon handles them: SIGHUP asks for a reload, SIGTERM and SIGINT for a stop.
///
/// By default each of them would end the process at once. They are noted instead, and sent again once they are trapped.
package enum EarlySignals {
  /// Bit N is set if signal N has arrived.
  private static let seen = Atomic<UInt64>(0)

  /// Notes these signals from here on, until they are trapped.
  package static func note(_ numbers: Int32...) {
    // Made before the handler needs it, which must not wait for anything.
    _ = seen.load(ordering: .relaxed)
    for number in numbers {
      signal(number) { EarlySignals.seen.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
    }
  }

  /// Sends those of these signals again that were noted. To be called once they are trapped.
  static func resend(_ numbers: Int32...) {
    let seen = seen.load(ordering: .relaxed)
    for number in numbers where seen & 1 << UInt64(number) != 0 { kill(getpid(), number) }
  }
}
