package import Platform

/// What programs ask of a file system, call by call: the one door through which recordings reach the disk.
///
/// Each call either does what it says or throws, with the operation and its `errno`; none is repeated by whoever
/// implements it, except after a signal. Open files are named by descriptors, which are valid for this disk only.
package protocol Disk: Sendable {
  func open(_ path: String, for purpose: OpenPurpose) throws(SystemError) -> Int32
  func close(_ file: Int32)
  /// Reads from where the last call ended. Returns how many bytes were read, which may be fewer than asked
  /// for; 0 at the end.
  func read(_ file: Int32, into target: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
  /// Appends; writes to where the last call ended if the file was opened for ``OpenPurpose/changing``. Returns how many
  /// bytes were written, which may be fewer than asked for.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
  /// Sets where the next call reads, or changes, a file.
  func seek(_ file: Int32, to offset: Int) throws(SystemError)
  /// Cuts a file to its first `count` bytes.
  func truncate(_ file: Int32, to count: Int) throws(SystemError)
  /// Returns once the contents and the size of a file would survive a power failure. That it has a name is
  /// for ``syncDirectory(_:)``.
  func sync(_ file: Int32) throws(SystemError)

  func state(of path: String) throws(SystemError) -> FileState
  /// Gives a file another name in the same directory, in place of the file that has that name.
  func rename(_ path: String, to newPath: String) throws(SystemError)
  /// Removes a file.
  func remove(_ path: String) throws(SystemError)

  /// Creates a directory, whose parent must exist.
  func makeDirectory(_ path: String) throws(SystemError)
  /// Removes an empty directory.
  func removeDirectory(_ path: String) throws(SystemError)
  /// The names of the entries, in any order.
  func names(in directory: String) throws(SystemError) -> [String]
  /// Returns once the entries of a directory would survive a power failure.
  func syncDirectory(_ path: String) throws(SystemError)
}

/// What a file is opened for.
package enum OpenPurpose: Sendable {
  /// Appending to a file that must not exist yet.
  case creating
  /// Appending to a file that exists.
  case appending
  case reading
  /// Reading a file that exists, and writing over what is in it.
  case changing
}

/// What is known of a file without opening it.
package struct FileState: Sendable, Equatable {
  package enum Kind: Sendable { case file, directory, other }

  package var kind: Kind
  package var bytes: Int
  /// When it last changed, in nanoseconds since 1970.
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
