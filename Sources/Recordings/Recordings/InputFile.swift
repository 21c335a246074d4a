import Glibc
import LiveEvents

/// A file that is read from its beginning, block by block. Closes itself when it is released.
struct InputFile: ~Copyable {
  let path: String
  private let descriptor: Int32

  init(_ path: String) throws(RecordingError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(operation: "open", path: path, code: errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The bytes of `rest` followed by at most `size` more from the file; `nil` at the end of the
  /// file.
  func block(after rest: ArraySlice<UInt8>, size: Int) throws(RecordingError) -> ByteSlab? {
    do {
      var isEnd = false
      let slab = try ByteSlab(capacity: rest.count + size) { target in
        _ = target.initialize(fromContentsOf: rest)
        let count = try read(
          UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: target[rest.count...]))
        )
        isEnd = count == 0
        return rest.count + count
      }
      return isEnd ? nil : slab
    } catch let error as RecordingError {
      throw error
    } catch {
      throw .file(operation: "read", path: path, code: EIO)
    }
  }

  private func read(_ target: UnsafeMutableRawBufferPointer) throws(RecordingError) -> Int {
    while true {
      let count = Glibc.read(descriptor, target.baseAddress, target.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw .file(operation: "read", path: path, code: errno) }
    }
  }

  /// The size in bytes of the file at `path`, and when it last changed in nanoseconds since 1970.
  static func state(of path: String) throws(RecordingError) -> (bytes: Int, modified: Int) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw .file(operation: "examine", path: path, code: errno)
    }
    // Nothing else is even opened: reading a pipe might never end, and a directory cannot be read.
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .file(operation: "read", path: path, code: EINVAL)
    }
    let modified = Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec)
    return (Int(status.st_size), modified)
  }
}
