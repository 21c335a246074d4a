import Glibc

/// A file that is only appended to. Closes itself when it is released.
struct OutputFile: ~Copyable {
  let path: String
  private let descriptor: Int32
  private let disk: Disk
  /// Bytes written.
  private(set) var count = 0

  /// Creates the file, which must not exist yet.
  init(creating path: String, on disk: Disk = Disk()) throws(RecordingError) {
    self.path = path
    self.disk = disk
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else {
      throw .file(operation: "create", path: path, code: errno)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Writes all of `bytes`. After an error, the file may hold any number of them.
  mutating func write(_ bytes: [UInt8]) throws(RecordingError) {
    let (written, code) = bytes.withUnsafeBytes { Self.write($0, to: descriptor) }
    count += written
    if code != 0 { throw .file(operation: "write", path: path, code: code) }
  }

  /// Returns how many bytes were written, and the error that stopped the writing, or 0.
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

  /// Returns once everything written would survive a power failure.
  func sync() throws(RecordingError) {
    let code = disk.sync(descriptor)
    guard code == 0 else { throw .file(operation: "sync", path: path, code: code) }
  }

  /// Cuts the file to its first `count` bytes.
  mutating func truncate(to count: Int) throws(RecordingError) {
    guard ftruncate(descriptor, off_t(count)) == 0 else {
      throw .file(operation: "truncate", path: path, code: errno)
    }
    self.count = count
  }
}

/// What recordings ask of the disk; tests replace it to make it slow or broken.
package struct Disk: Sendable {
  /// Returns once everything written to a descriptor would survive a power failure: 0, or the `errno`.
  package var sync: @Sendable (_ descriptor: Int32) -> Int32
  /// Called with the size of each block that a recovery has read.
  package var didRead: @Sendable (_ bytes: Int) -> Void

  package init(
    sync: @escaping @Sendable (_ descriptor: Int32) -> Int32 = {
      fdatasync($0) == 0 ? 0 : errno
    },
    didRead: @escaping @Sendable (_ bytes: Int) -> Void = { _ in }
  ) {
    self.sync = sync
    self.didRead = didRead
  }
}

/// Operations on directories.
enum Directories {
  /// Creates a directory and its ancestors, unless they exist.
  static func create(_ path: String) throws(RecordingError) {
    if mkdir(path, 0o750) == 0 || errno == EEXIST { return }
    let code = errno
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    guard code == ENOENT, !parent.isEmpty, parent != path else {
      throw .file(operation: "create", path: path, code: code)
    }
    try create(parent)
    guard mkdir(path, 0o750) == 0 || errno == EEXIST else {
      throw .file(operation: "create", path: path, code: errno)
    }
  }

  /// Makes the entries of a directory survive a power failure.
  static func sync(_ path: String) throws(RecordingError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(operation: "open", path: path, code: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .file(operation: "sync", path: path, code: errno) }
  }

  /// The names of the entries, sorted.
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
