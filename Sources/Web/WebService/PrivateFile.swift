import FileSystem
import Glibc
import SystemSupport

/// Files with secrets, which are replaced as a whole.
enum PrivateFile {
  /// Returns the contents of a file; nil if it does not exist. Fails if the file has permissions
  /// that `allowedMode` does not contain, or if it is longer than `limit` bytes.
  static func read(
    _ path: String, limit: Int, allowedMode: mode_t, remedy: String
  ) throws(PrivateFileFailure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw PrivateFileFailure(path, errno) }
      return nil
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw PrivateFileFailure(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PrivateFileFailure(path, problem: "not a regular file")
    }
    guard status.st_mode & 0o777 & ~allowedMode == 0 else {
      throw PrivateFileFailure(path, problem: remedy)
    }
    guard status.st_size <= limit else {
      throw PrivateFileFailure(path, problem: "larger than \(limit) bytes")
    }
    var (bytes, count) = ([UInt8](repeating: 0, count: limit + 1), 0)
    while count < bytes.count {
      let read = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      guard read >= 0 else { throw PrivateFileFailure(path, errno) }
      guard read > 0 else { break }
      count += read
    }
    return Array(bytes[..<min(count, limit)])
  }

  /// Creates or replaces a file atomically: other programs never see a partial file, and a crash
  /// leaves the old or the new contents. Only the owner can read the file. If root writes the file,
  /// it gets the owner of the directory, so that the service that owns the directory can read it.
  static func write(_ path: String, _ bytes: [UInt8]) throws(PrivateFileFailure) {
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw PrivateFileFailure(draft, errno) }
    let isWritten =
      give(descriptor, toOwnerOf: directory(of: path))
      && Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten else { throw PrivateFileFailure(draft, code) }
    guard rename(draft, path) == 0 else { throw PrivateFileFailure(path, errno) }
    do {
      try SystemDisk().syncDirectory(directory(of: path))
    } catch {
      throw PrivateFileFailure(path, error.code)
    }
  }

  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func give(_ descriptor: Int32, toOwnerOf directory: String) -> Bool {
    guard geteuid() == 0 else { return true }
    var status = stat()
    return stat(directory, &status) == 0
      && fchown(descriptor, status.st_uid, status.st_gid) == 0
  }
}

/// The reason why a file with secrets cannot be read or written.
package struct PrivateFileFailure: Error, Equatable, CustomStringConvertible {
  package let description: String
  /// The `errno` value; nil if the contents or the permissions are wrong.
  package let code: Int32?

  init(_ path: String, problem: String) {
    (description, code) = ("\(path): \(problem)", nil)
  }

  init(_ path: String, _ code: Int32) {
    (description, self.code) = ("\(path): \(String(cString: strerror(code)))", code)
  }
}
