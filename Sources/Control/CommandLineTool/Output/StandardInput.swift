import Glibc
import SystemSupport

/// Standard input, for verbs that read a short text from it.
enum StandardInput {
  /// Returns standard input up to its end, but at most `limit` bytes. Cancelling the task ends the
  /// wait and throws `CancellationError`.
  static func read(limit: Int) async throws -> [UInt8] {
    let wake = try WakeSignal()
    return try await withTaskCancellationHandler {
      try await onThread { try read(limit, wake.descriptor) }
    } onCancel: {
      wake.raise()
    }
  }

  /// Blocks until the end of standard input, until `limit` bytes were read, or until `wake` is
  /// readable.
  private static func read(_ limit: Int, _ wake: Int32) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < limit {
      var descriptors = [
        pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&descriptors, 2, -1) > 0 else { continue }
      if descriptors[0].revents != 0 { throw CancellationError() }
      let count = Glibc.read(STDIN_FILENO, &piece, min(piece.count, limit - bytes.count))
      if count == 0 { break }
      if count > 0 {
        bytes += piece[..<count]
      } else if errno != EINTR, errno != EAGAIN {
        throw Failure(
          .failed, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
    }
    return bytes
  }
}
