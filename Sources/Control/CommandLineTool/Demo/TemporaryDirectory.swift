import Glibc

/// A private directory that is removed with its contents when this object is released.
final class TemporaryDirectory: Sendable {
  let path: String

  /// - Parameter base: the parent directory; `/tmp` is used instead if this path is longer than 40
  ///   bytes, because the directory will contain sockets, whose paths must be short.
  init(base: String?) throws(Failure) {
    let base = base.flatMap { $0.utf8.count <= 40 && FileKind(path: $0) == .directory ? $0 : nil }
    var template = Array("\(base ?? "/tmp")/livehost-demo-XXXXXX".utf8CString)
    guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap(mkdtemp) }) != nil else {
      throw Failure(.failed, "cannot create a directory: \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Creates a subdirectory that only this user can access.
  func subdirectory(_ name: String) throws(Failure) -> String {
    let path = "\(path)/\(name)"
    guard mkdir(path, 0o700) == 0 else {
      throw Failure(.failed, "cannot create \(path): \(String(cString: strerror(errno)))")
    }
    return path
  }

  deinit {
    Self.remove(path)
  }

  /// Removes a file, or a directory with its contents, without following links.
  private static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }

  private static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee))
        {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
