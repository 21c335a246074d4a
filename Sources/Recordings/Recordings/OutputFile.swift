import FileSystem
import SystemSupport

/// A file that is only appended to. It is closed when the value is destroyed.
struct OutputFile: ~Copyable {
  let path: String
  private let disk: any Disk
  private let descriptor: Int32
  /// The size of the file in bytes.
  private(set) var count = 0

  /// Creates the file. Throws if the file exists.
  init(creating path: String, on disk: any Disk) throws(RecordingError) {
    let descriptor = try RecordingError.naming(path) { () throws(SystemError) in
      try disk.open(path, for: .creating)
    }
    (self.path, self.disk, self.descriptor) = (path, disk, descriptor)
  }

  /// Opens the file, cuts it to its first `count` bytes, and appends after them.
  init(cutting path: String, to count: Int, on disk: any Disk) throws(RecordingError) {
    let descriptor = try RecordingError.naming(path) { () throws(SystemError) in
      let descriptor = try disk.open(path, for: .appending)
      do throws(SystemError) {
        try disk.truncate(descriptor, to: count)
      } catch {
        disk.close(descriptor)
        throw error
      }
      return descriptor
    }
    (self.path, self.disk, self.descriptor) = (path, disk, descriptor)
    self.count = count
  }

  deinit { disk.close(descriptor) }

  /// Writes all of `bytes`. After an error, the file may contain only some of these bytes.
  mutating func write(_ bytes: [UInt8]) throws(RecordingError) {
    let (written, error) = bytes.withUnsafeBytes { write($0) }
    count += written
    if let error { throw RecordingError(error, path) }
  }

  /// Returns how many bytes were written, and the error that stopped the writing.
  private func write(_ bytes: UnsafeRawBufferPointer) -> (count: Int, error: SystemError?) {
    var rest = bytes
    do throws(SystemError) {
      while !rest.isEmpty {
        let written = try disk.write(descriptor, rest)
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
      return (bytes.count, nil)
    } catch {
      return (bytes.count - rest.count, error)
    }
  }

  /// Returns once everything written survives a power failure.
  func sync() throws(RecordingError) {
    try RecordingError.naming(path) { () throws(SystemError) in try disk.sync(descriptor) }
  }

  /// Cuts the file to its first `count` bytes.
  mutating func truncate(to count: Int) throws(RecordingError) {
    try RecordingError.naming(path) { () throws(SystemError) in
      try disk.truncate(descriptor, to: count)
    }
    self.count = count
  }
}
