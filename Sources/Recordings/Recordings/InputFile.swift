import FileSystem
import Glibc
import LiveEvents
import SystemSupport

/// A file that is read from its beginning, block by block. Closes itself when it is released.
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

  /// The bytes of `rest` followed by at most `size` more from the file; `nil` at the end of the
  /// file.
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

  /// The size in bytes of the file at `path`, and when it last changed in nanoseconds since 1970.
  static func state(of path: String, on disk: any Disk) throws(RecordingError) -> FileState {
    let state = try RecordingError.naming(path) { () throws(SystemError) in
      try disk.state(of: path)
    }
    // Nothing else is even opened: reading a pipe might never end, and a directory cannot be read.
    guard state.kind == .file else { throw .file(operation: "open", path: path, code: EINVAL) }
    return state
  }

  /// The same of what has the name of a segment. If that is something else than a file, or a link
  /// that leads nowhere, it counts as an empty one, whose problem must not hide the other segments.
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
