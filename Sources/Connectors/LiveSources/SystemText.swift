import Glibc

enum SystemText {
  /// Returns the meaning of an `errno`.
  static func error(_ code: Int32) -> String {
    // `strerror` is thread-safe: since version 2.32, glibc uses a buffer per thread.
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
