import Glibc
package import SystemSupport

/// The real file system of the machine.
package struct SystemDisk: Disk {
  package init() {}

  package func open(_ path: String, for purpose: OpenPurpose) throws(SystemError) -> Int32 {
    let flags =
      switch purpose {
      case .creating: O_WRONLY | O_CREAT | O_EXCL | O_APPEND
      case .appending: O_WRONLY | O_APPEND
      case .reading: O_RDONLY
      case .changing: O_RDWR
      }
    // With O_NONBLOCK, opening a pipe does not wait for its other end. Everything except a regular
    // file is refused below.
    let file = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o640)
    try check(file, purpose == .creating ? .create : .open, path)
    var status = stat()
    guard fstat(file, &status) == 0, Self.kind(status) == .file else {
      close(file)
      throw SystemError(.open, code: EINVAL, context: "\(path), which is not a regular file")
    }
    return file
  }

  package func close(_ file: Int32) { Glibc.close(file) }

  package func read(
    _ file: Int32, into target: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try repeating(.read) { Glibc.read(file, target.baseAddress, target.count) }
  }

  package func write(
    _ file: Int32, _ bytes: UnsafeRawBufferPointer
  ) throws(SystemError) -> Int {
    try repeating(.write) { Glibc.write(file, bytes.baseAddress, bytes.count) }
  }

  package func seek(_ file: Int32, to offset: Int) throws(SystemError) {
    guard lseek(file, off_t(offset), SEEK_SET) >= 0 else { throw SystemError(.seek, code: errno) }
  }

  package func truncate(_ file: Int32, to count: Int) throws(SystemError) {
    try check(ftruncate(file, off_t(count)), .truncate)
  }

  package func sync(_ file: Int32) throws(SystemError) { try check(fdatasync(file), .sync) }

  package func state(of path: String) throws(SystemError) -> FileState {
    var status = stat()
    try check(stat(path, &status), .examine, path)
    return FileState(
      kind: Self.kind(status), bytes: Int(status.st_size),
      modified: Self.nanoseconds(status.st_mtim))
  }

  /// Returns nanoseconds since 1970. File systems can store times that would overflow, so the
  /// result is limited to about 285 years.
  private static func nanoseconds(_ time: timespec) -> Int {
    min(max(Int(time.tv_sec), -9_000_000_000), 9_000_000_000) * 1_000_000_000 + Int(time.tv_nsec)
  }

  private static func kind(_ status: stat) -> FileState.Kind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .directory
    default: .other
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    try check(Glibc.rename(path, newPath), .rename, path)
  }

  package func remove(_ path: String) throws(SystemError) { try check(unlink(path), .remove, path) }

  package func makeDirectory(_ path: String) throws(SystemError) {
    try check(mkdir(path, 0o750), .create, path)
  }

  package func removeDirectory(_ path: String) throws(SystemError) {
    try check(rmdir(path), .remove, path)
  }

  package func names(in directory: String) throws(SystemError) -> [String] {
    guard let stream = opendir(directory) else {
      throw SystemError(.read, code: errno, context: directory)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  package func syncDirectory(_ path: String) throws(SystemError) {
    let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    try check(directory, .syncDirectory, path)
    defer { close(directory) }
    try check(fsync(directory), .syncDirectory, path)
  }

  private func repeating(
    _ operation: SystemError.Operation, _ call: () -> Int
  ) throws(SystemError) -> Int {
    while true {
      let count = call()
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError(operation, code: errno) }
    }
  }

  private func check(
    _ result: Int32, _ operation: SystemError.Operation, _ path: String = ""
  ) throws(SystemError) {
    guard result >= 0 else { throw SystemError(operation, code: errno, context: path) }
  }
}
