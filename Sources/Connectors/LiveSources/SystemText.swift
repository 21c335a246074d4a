import Glibc

/// Messages of the operating system.
enum SystemText {
  /// Returns the meaning of an `errno`.
  static func error(_ code: Int32) -> String {
    // Safe on any thread: since version 2.32, the C library uses a buffer per thread.
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
