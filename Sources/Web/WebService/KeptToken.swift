import Glibc

/// A token in a file, which outlives the program: links with it stay valid.
package enum KeptToken {
  /// Reads the token of a file, and makes one if there is no such file.
  package static func read(_ path: String) throws(KeptTokenFailure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw KeptTokenFailure(path, errno) }
      return try make(path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw KeptTokenFailure(path, errno) }
    guard status.st_mode & 0o007 == 0 else {
      throw KeptTokenFailure(path, problem: "may be read by everybody; run: chmod o= \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: 2 * Tokens.length)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw KeptTokenFailure(path, errno) }
    var text = String(decoding: bytes[..<count], as: UTF8.self)
    if text.hasSuffix("\n") { text.removeLast() }
    guard text.utf8.count == Tokens.length, text.allSatisfy(\.isHexDigit) else {
      throw KeptTokenFailure(path, problem: "holds no token; remove it to get a new one")
    }
    return text
  }

  /// A file that is there only once the whole token is in it.
  private static func make(_ path: String) throws(KeptTokenFailure) -> String {
    let token = Tokens().reading
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw KeptTokenFailure(draft, errno) }
    let line = Array((token + "\n").utf8)
    let isWritten =
      Glibc.write(descriptor, line, line.count) == line.count && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten else { throw KeptTokenFailure(draft, code) }
    guard rename(draft, path) == 0 else { throw KeptTokenFailure(path, errno) }
    return token
  }
}

/// Why a token cannot be kept.
package struct KeptTokenFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ path: String, problem: String) { description = "\(path): \(problem)" }

  init(_ path: String, _ code: Int32) {
    self.init(path, problem: String(cString: strerror(code)))
  }
}
