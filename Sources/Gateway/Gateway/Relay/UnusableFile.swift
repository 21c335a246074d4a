import Glibc

/// A configured file that cannot be used.
package struct UnusableFile: Error, Equatable, Sendable, CustomStringConvertible {
  package let path: String
  package let reason: String

  package init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  package var description: String { "\(path): \(reason)" }

  /// Checks that this process can read a file, by opening it.
  package static func check(_ path: String) throws(UnusableFile) {
    // With O_NONBLOCK, opening a pipe without a writer does not block.
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
