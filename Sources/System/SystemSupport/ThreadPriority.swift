import CSystemSupport
import Glibc

/// Sets how the kernel shares processors between the calling thread and other threads.
package enum ThreadPriority {
  private static let niceness: Int32 = 10
  /// The time slice in nanoseconds, the shortest that the kernel accepts.
  private static let slice: UInt64 = 100_000

  /// Lowers the priority of the calling thread, so that threads of normal priority run first. In
  /// Linux, niceness is per thread.
  ///
  /// Also requests a short time slice, because a thread that wakes up waits for the end of the
  /// running thread's slice, which by default takes up to about 3 ms. Linux before version 6.12
  /// ignores the request.
  package static func lower() throws(SystemError) {
    if set_normal_scheduling(niceness, slice) == 0 { return }
    // A sandbox may only allow the older system call.
    guard setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) == 0 else {
      throw SystemError(.lowerPriority, code: errno)
    }
  }
}

extension SystemError.Operation {
  fileprivate static let lowerPriority = Self("lower the priority of a thread")
}
