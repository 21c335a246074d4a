package import Glibc

/// How a thread spent its time according to the kernel, in nanoseconds since the thread began.
package struct SchedulerTimes: Sendable, Equatable {
  /// On a processor.
  package var ran: UInt64
  /// Ready to run, without a processor.
  package var waited: UInt64

  package init(ran: UInt64, waited: UInt64) {
    self.ran = ran
    self.waited = waited
  }

  /// The times of a thread of this process, from `schedstat` of proc(5); `nil` if the kernel does
  /// not provide them or the thread has ended. Costs about 10 us.
  package static func of(thread: pid_t) -> SchedulerTimes? {
    guard thread > 0, let file = fopen("/proc/self/task/\(thread)/schedstat", "re") else {
      return nil
    }
    defer { fclose(file) }
    var ran: UInt64 = 0
    var waited: UInt64 = 0
    return withUnsafeMutablePointer(to: &ran) { ran in
      withUnsafeMutablePointer(to: &waited) { waited in
        let count = withVaList([ran, waited]) { vfscanf(file, "%lu %lu", $0) }
        return count == 2 ? SchedulerTimes(ran: ran.pointee, waited: waited.pointee) : nil
      }
    }
  }

  /// The kernel's number of the calling thread; 0 if it is unknown.
  package static func currentThread() -> pid_t {
    var path = [UInt8](repeating: 0, count: 64)
    let length = path.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { buffer in
        buffer.baseAddress.map { readlink("/proc/thread-self", $0, buffer.count) } ?? -1
      }
    }
    guard length > 0 else { return 0 }
    // PROCESS/task/THREAD
    return String(decoding: path[..<length], as: UTF8.self).split(separator: "/").last
      .flatMap { pid_t($0) } ?? 0
  }
}
