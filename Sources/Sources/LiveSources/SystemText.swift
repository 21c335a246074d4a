import Glibc

/// Messages of the system.
enum SystemText {
  /// What an `errno` means.
  static func error(_ code: Int32) -> String {
    // Safe on any thread: since version 2.32 the C library's buffer is per thread.
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
