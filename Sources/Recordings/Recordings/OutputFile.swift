import Glibc

/// A file that grows at its end. Closed when it is let go.
struct OutputFile: ~Copyable {
  let path: String
  private let descriptor: Int32
  /// Bytes written.
  private(set) var count = 0

  /// Makes a file that is not there yet.
  init(creating path: String) throws(RecordingError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else {
      throw .file(operation: "make", path: path, code: errno)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Writes all of `bytes`. After an error any part of them may be in the file.
  mutating func write(_ bytes: [UInt8]) throws(RecordingError) {
    let (written, code) = bytes.withUnsafeBytes { Self.write($0, to: descriptor) }
    count += written
    if code != 0 { throw .file(operation: "write", path: path, code: code) }
  }

  /// How many bytes were written, and the error that ended it; 0 if none did.
  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
  ) -> (count: Int, code: Int32) {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let written = Glibc.write(descriptor, start, rest.count)
      if written >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      } else if errno != EINTR {
        return (bytes.count - rest.count, errno)
      }
    }
    return (bytes.count, 0)
  }

  /// Returns once what was written would survive the loss of power.
  func sync() throws(RecordingError) {
    guard fdatasync(descriptor) == 0 else {
      throw .file(operation: "sync", path: path, code: errno)
    }
  }

  /// Cuts off what stands behind `count`.
  mutating func truncate(to count: Int) throws(RecordingError) {
    guard ftruncate(descriptor, off_t(count)) == 0 else {
      throw .file(operation: "truncate", path: path, code: errno)
    }
    self.count = count
  }
}

/// What is done to directories.
enum Directories {
  /// Makes a directory and those above it, if they are not there.
  static func make(_ path: String) throws(RecordingError) {
    if mkdir(path, 0o750) == 0 || errno == EEXIST { return }
    let code = errno
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    guard code == ENOENT, !parent.isEmpty, parent != path else {
      throw .file(operation: "make", path: path, code: code)
    }
    try make(parent)
    guard mkdir(path, 0o750) == 0 || errno == EEXIST else {
      throw .file(operation: "make", path: path, code: errno)
    }
  }

  /// Makes entries of a directory survive the loss of power.
  static func sync(_ path: String) throws(RecordingError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(operation: "open", path: path, code: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .file(operation: "sync", path: path, code: errno) }
  }

  /// Names of the entries, sorted.
  static func names(in path: String) throws(RecordingError) -> [String] {
    guard let directory = opendir(path) else {
      throw .file(operation: "read", path: path, code: errno)
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
