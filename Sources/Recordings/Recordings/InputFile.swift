import FileSystem
import Glibc
import LiveEvents
import SystemSupport

/// A file that is read from its beginning, block by block. It is closed when the value is
/// destroyed.
struct InputFile: ~Copyable {
  private let path: String
  private let disk: any Disk
  private let descriptor: Int32

  init(_ path: String, on disk: any Disk) throws(RecordingError) {
    let descriptor = try RecordingError.naming(path) { () throws(SystemError) in
      try disk.open(path, for: .reading)
    }
    (self.path, self.disk, self.descriptor) = (path, disk, descriptor)
  }

  deinit { disk.close(descriptor) }

  /// Returns the bytes of `rest` followed by at most `size` bytes from the file; `nil` at its end.
  func block(after rest: ArraySlice<UInt8>, size: Int) throws(RecordingError) -> ByteSlab? {
    do {
      var isEnd = false
      let slab = try ByteSlab(capacity: rest.count + size) { target in
        _ = target.initialize(fromContentsOf: rest)
        let count = try disk.read(
          descriptor,
          into: UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: target[rest.count...])))
        isEnd = count == 0
        return rest.count + count
      }
      return isEnd ? nil : slab
    } catch let error as SystemError {
      throw RecordingError(error, path)
    } catch {
      throw .file(operation: "read", path: path, code: EIO)
    }
  }

  /// Returns the state of the file at `path`.
  ///
  /// - Throws: if it is not a regular file. Other files are never opened: reading a pipe might
  ///   block forever.
  static func state(of path: String, on disk: any Disk) throws(RecordingError) -> FileState {
    let state = try RecordingError.naming(path) { () throws(SystemError) in
      try disk.state(of: path)
    }
    guard state.kind == .file else { throw .file(operation: "open", path: path, code: EINVAL) }
    return state
  }

  /// Returns the state of a segment's file.
  ///
  /// Anything else under that name, such as a directory or a broken link, counts as an empty file
  /// and is returned with its problem, so that it does not hide the other segments.
  static func state(
    ofSegment path: String, on disk: any Disk
  ) throws(RecordingError) -> (state: FileState, problem: RecordingError?) {
    do throws(RecordingError) {
      return (try state(of: path, on: disk), nil)
    } catch {
      guard case .file(_, _, let code) = error, [EINVAL, ELOOP, ENOENT].contains(code) else {
        throw error
      }
      return (FileState(kind: .other, bytes: 0, modified: 0), error)
    }
  }
}
