import CSystemSupport
import Glibc

/// Wakes one waiting thread. A raise before the wait is not lost; several raises count as one. Uses
/// the kernel's event counter, because raising it never blocks and a wait can have a timeout.
package final class WakeSignal: Sendable {
  /// A descriptor that is readable while the signal is raised, for threads that also wait for other
  /// descriptors.
  package let descriptor: Int32

  package init() throws(SystemError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError(.makeEvent, code: errno) }
  }

  deinit { close(descriptor) }

  /// Wakes the waiting thread. Never blocks: if the counter is full and cannot be raised, the
  /// thread is woken anyway.
  package func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Waits until the signal is raised, or for `nanoseconds` (nil: indefinitely), and resets the
  /// signal. Returns whether the signal was raised.
  package func wait(nanoseconds: UInt64?) -> Bool {
    let deadline = nanoseconds.map { MonotonicClock.nanoseconds().addingReportingOverflow($0) }
    while true {
      var milliseconds: Int32 = -1
      if let deadline, !deadline.overflow {
        let now = MonotonicClock.nanoseconds()
        let left = deadline.partialValue > now ? deadline.partialValue - now : 0
        // Rounded up, so that a wait does not end early.
        milliseconds = Int32(clamping: (left + 999_999) / 1_000_000)
      }
      var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let result = poll(&waited, 1, milliseconds)
      if result > 0 {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return true
      }
      if result == 0 { return false }
      // After an interruption by a signal, the wait continues. No other error can occur on an open
      // descriptor; if one did, ending the wait would be better than spinning.
      if errno != EINTR { return false }
    }
  }
}
