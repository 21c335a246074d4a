import Glibc

/// Wakes a thread that waits for descriptors.
final class WakeEvent: Sendable {
  /// Readable once the event is raised.
  let descriptor: Int32
  private let other: Int32

  init() throws(Failure) {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
      throw Failure(.failed, "cannot make a pair of sockets: \(String(cString: strerror(errno)))")
    }
    (descriptor, other) = (pair[0], pair[1])
  }

  deinit {
    close(descriptor)
    close(other)
  }

  /// From any thread; stays raised.
  func raise() {
    let signal: [UInt8] = [1]
    _ = send(other, signal, 1, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }
}

/// The clock that runs on whatever happens to the time of day.
enum MonotonicTime {
  static func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
