import Glibc

/// A token that is stored in a file, so that links with it stay valid after a restart.
package enum TokenFile {
  /// Reads the token from a file; creates the file with a new token if it does not exist.
  package static func read(_ path: String) throws(TokenFileFailure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw TokenFileFailure(path, errno) }
      return try make(path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TokenFileFailure(path, errno) }
    guard status.st_mode & 0o007 == 0 else {
      throw TokenFileFailure(path, problem: "readable by all users; run: chmod o= \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: 2 * Tokens.length)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw TokenFileFailure(path, errno) }
    var text = String(decoding: bytes[..<count], as: UTF8.self)
    if text.hasSuffix("\n") { text.removeLast() }
    guard text.utf8.count == Tokens.length, text.allSatisfy(\.isHexDigit) else {
      throw TokenFileFailure(path, problem: "contains no token; remove the file to get a new one")
    }
    return text
  }

  /// Creates the file atomically, so that other programs never see it without the complete token.
  private static func make(_ path: String) throws(TokenFileFailure) -> String {
    let token = Tokens().reading
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TokenFileFailure(draft, errno) }
    let line = Array((token + "\n").utf8)
    let isWritten =
      Glibc.write(descriptor, line, line.count) == line.count && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten else { throw TokenFileFailure(draft, code) }
    guard rename(draft, path) == 0 else { throw TokenFileFailure(path, errno) }
    return token
  }
}

/// The reason why a token cannot be read or stored.
package struct TokenFileFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ path: String, problem: String) { description = "\(path): \(problem)" }

  init(_ path: String, _ code: Int32) {
    self.init(path, problem: String(cString: strerror(code)))
  }
}
