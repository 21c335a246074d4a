import Glibc

/// A file that was named but cannot be used.
package struct UnusableFile: Error, Equatable, Sendable, CustomStringConvertible {
  package let path: String
  /// Why, in words.
  package let reason: String

  package init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  package var description: String { "\(path): \(reason)" }

  /// Opens a file, to find out whether this process may read it.
  package static func check(_ path: String) throws(UnusableFile) {
    // A pipe without a writer must not be waited for.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor < 0 else {
      close(descriptor)
      return
    }
    let code = errno
    let remedy = "; it must be readable by livehost-gateway, whose service has the group livehost"
    throw UnusableFile(
      path: path, reason: String(cString: strerror(code)) + (code == EACCES ? remedy : ""))
  }
}
