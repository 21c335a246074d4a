import CPlatform
import Glibc

/// How the kernel shares processors between the calling thread and others.
package enum ThreadPriority {
  private static let niceness: Int32 = 10
  /// In nanoseconds: the shortest that the kernel takes.
  private static let slice: UInt64 = 100_000

  /// Lets threads of normal priority go first. Linux keeps a niceness per thread.
  ///
  /// From Linux 6.12 on a thread may ask for its own time slice, and one that wakes up waits until the slice of the
  /// one that is running is over: some 3 ms unless that asked for less. Older kernels take no notice of it.
  package static func lower() throws(SystemError) {
    if set_normal_scheduling(niceness, slice) == 0 { return }
    // A sandbox may know the older call alone.
    guard setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) == 0 else {
      throw SystemError(.lowerPriority, code: errno)
    }
  }
}

extension SystemError.Operation {
  fileprivate static let lowerPriority = Self("lower the priority of a thread")
}
