package import SystemSupport

/// A file system, with one method per system call. All recordings use this protocol, so that tests
/// can simulate a disk.
///
/// Each call succeeds, or throws an error that contains the operation and its `errno`.
/// Implementations repeat a call only if a signal interrupted it. File descriptors are valid only
/// for the disk that returned them.
package protocol Disk: Sendable {
  func open(_ path: String, for purpose: OpenPurpose) throws(SystemError) -> Int32
  func close(_ file: Int32)
  /// Reads at the current position of a file. Returns the number of bytes read, which may be less
  /// than requested, and is 0 at the end.
  func read(_ file: Int32, into target: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
  /// Appends to a file, or writes at the current position of a file opened for
  /// ``OpenPurpose/changing``. Returns the number of bytes written, which may be less than
  /// requested.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
  /// Sets the position of the next read or change.
  func seek(_ file: Int32, to offset: Int) throws(SystemError)
  /// Truncates a file to `count` bytes.
  func truncate(_ file: Int32, to count: Int) throws(SystemError)
  /// Returns when the contents and the size of a file would survive a power failure. The name of a
  /// new file survives only after ``syncDirectory(_:)``.
  func sync(_ file: Int32) throws(SystemError)

  /// Returns the state of a file without opening it.
  func state(of path: String) throws(SystemError) -> FileState
  /// Renames a file within its directory. Replaces an existing file with the new name.
  func rename(_ path: String, to newPath: String) throws(SystemError)
  func remove(_ path: String) throws(SystemError)

  /// Creates a directory, whose parent must exist.
  func makeDirectory(_ path: String) throws(SystemError)
  /// Removes an empty directory.
  func removeDirectory(_ path: String) throws(SystemError)
  /// Returns the names of the entries of a directory, in any order.
  func names(in directory: String) throws(SystemError) -> [String]
  /// Returns when the entries of a directory would survive a power failure.
  func syncDirectory(_ path: String) throws(SystemError)
}

package enum OpenPurpose: Sendable {
  /// Create a file, which must not exist, and append to it.
  case creating
  case appending
  case reading
  /// Read an existing file and overwrite parts of it.
  case changing
}

/// The state of a file: kind, size and time of the last change.
package struct FileState: Sendable, Equatable {
  package enum Kind: Sendable { case file, directory, other }

  package var kind: Kind
  package var bytes: Int
  /// The time of the last change, in nanoseconds since 1970.
  package var modified: Int

  package init(kind: Kind, bytes: Int, modified: Int) {
    self.kind = kind
    self.bytes = bytes
    self.modified = modified
  }
}

extension SystemError.Operation {
  package static let create = Self("create")
  package static let open = Self("open")
  package static let read = Self("read")
  package static let write = Self("write")
  package static let seek = Self("seek")
  package static let truncate = Self("truncate")
  package static let sync = Self("sync")
  package static let syncDirectory = Self("sync directory")
  package static let examine = Self("examine")
  package static let rename = Self("rename")
  package static let remove = Self("remove")
}
