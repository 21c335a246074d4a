package import Glibc

/// The kernel's accounting of a thread's time, in nanoseconds since the thread began.
package struct SchedulerTimes: Sendable, Equatable {
  package var ran: UInt64
  /// The time in which the thread was ready to run but waited for a processor.
  package var waited: UInt64

  package init(ran: UInt64, waited: UInt64) {
    self.ran = ran
    self.waited = waited
  }

  /// Returns the times of a thread of this process, from `schedstat` in proc(5).
  ///
  /// Takes about 10 us. Returns `nil` if the kernel does not provide the times or the thread has
  /// ended.
  package static func of(thread: pid_t) -> SchedulerTimes? {
    thread > 0 ? read("/proc/self/task/\(thread)/schedstat") : nil
  }

  /// Returns the times of the calling thread; `nil` if the kernel does not provide them.
  package static func ofCurrentThread() -> SchedulerTimes? { read("/proc/thread-self/schedstat") }

  private static func read(_ path: String) -> SchedulerTimes? {
    guard let file = fopen(path, "re") else { return nil }
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

  /// Returns whether a thread of this process is blocked, that is, neither running nor ready to
  /// run; `nil` if its state is unknown. Reads `stat` of proc(5), which takes about 10 us.
  package static func isAsleep(thread: pid_t) -> Bool? {
    guard thread > 0, let file = fopen("/proc/self/task/\(thread)/stat", "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = fread(&bytes, 1, bytes.count, file)
    // The format is `NUMBER (NAME) STATE`. The name may contain parentheses and spaces.
    guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
      return nil
    }
    return bytes[end + 2] != UInt8(ascii: "R")
  }

  /// Returns the kernel's identifier of the calling thread; 0 if it is unknown.
  package static func currentThread() -> pid_t {
    var path = [UInt8](repeating: 0, count: 64)
    let length = path.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { buffer in
        buffer.baseAddress.map { readlink("/proc/thread-self", $0, buffer.count) } ?? -1
      }
    }
    guard length > 0 else { return 0 }
    // The link's target is `PROCESS/task/THREAD`.
    return String(decoding: path[..<length], as: UTF8.self).split(separator: "/").last
      .flatMap { pid_t($0) } ?? 0
  }
}
