import Glibc
import Synchronization

/// SIGHUP asks for a reload. Until the daemon can do that the signal would end it, so it is noted.
package enum EarlyHangup {
  private static let seen = Atomic<Bool>(false)

  /// Notes the signal from here on, until it is trapped for good.
  package static func note() {
    // Made before the handler needs it, which must not wait for anything.
    seen.store(false, ordering: .relaxed)
    signal(SIGHUP) { _ in EarlyHangup.seen.store(true, ordering: .relaxed) }
  }

  static var wasReceived: Bool { seen.load(ordering: .relaxed) }
}
