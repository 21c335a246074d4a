import CPlatform
import Glibc

/// Wakes one waiting thread: an event counter of the kernel, because raising it never blocks and
/// a wait can end by time. A raise before the wait is not lost; several count as one.
package final class WakeSignal: Sendable {
  /// Readable once the signal is raised, for threads that wait for other descriptors too.
  package let descriptor: Int32

  package init() throws(SystemError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError(.makeEvent, code: errno) }
  }

  deinit { close(descriptor) }

  /// Wakes the waiter. Never blocks: a full counter already wakes it.
  package func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Waits until raised, or for `nanoseconds` (nil: without end), and takes the signal.
  ///
  /// - Returns: Whether it was raised.
  package func wait(nanoseconds: UInt64?) -> Bool {
    let deadline = nanoseconds.map { MonotonicClock.nanoseconds().addingReportingOverflow($0) }
    while true {
      var milliseconds: Int32 = -1
      if let deadline, !deadline.overflow {
        let now = MonotonicClock.nanoseconds()
        let left = deadline.partialValue > now ? deadline.partialValue - now : 0
        // Rounded up: a wait must not end before its time.
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
      // Interrupted by a signal: wait for the rest. Nothing else can happen on an open descriptor;
      // if it does, end the wait rather than spin.
      if errno != EINTR { return false }
    }
  }
}
