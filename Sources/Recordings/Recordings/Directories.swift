import FileSystem
import Glibc
import SystemSupport

/// Operations on directories.
enum Directories {
  /// Creates a directory and its missing ancestors. The directories survive a power failure.
  static func create(_ path: String, on disk: any Disk) throws(RecordingError) {
    do throws(RecordingError) {
      return try makeIfMissing(path, on: disk)
    } catch .file(_, _, ENOENT) where parent(of: path) != path {
      try create(parent(of: path), on: disk)
    }
    try makeIfMissing(path, on: disk)
  }

  private static func makeIfMissing(_ path: String, on disk: any Disk) throws(RecordingError) {
    do throws(RecordingError) {
      try make(path, on: disk)
    } catch .file(_, _, EEXIST) {
      // The process that created it may have been killed before the sync. A failure of the sync is
      // ignored, because this call created nothing.
      try? sync(parent(of: path), on: disk)
    }
  }

  /// Creates a directory that survives a power failure.
  static func make(_ path: String, on disk: any Disk) throws(RecordingError) {
    try RecordingError.naming(path) { () throws(SystemError) in try disk.makeDirectory(path) }
    do throws(RecordingError) {
      try sync(parent(of: path), on: disk)
    } catch {
      // Otherwise the next attempt would find the directory, and assume that it survives a power
      // failure.
      try? disk.removeDirectory(path)
      throw error
    }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Syncs a directory, so that changes to its entries survive a power failure.
  static func sync(_ path: String, on disk: any Disk) throws(RecordingError) {
    try RecordingError.naming(path) { () throws(SystemError) in try disk.syncDirectory(path) }
  }

  /// Renames an entry. Replaces any entry that has the new name.
  static func rename(
    _ path: String, to newPath: String, on disk: any Disk
  ) throws(RecordingError) {
    try RecordingError.naming(path) { () throws(SystemError) in
      try disk.rename(path, to: newPath)
    }
  }

  /// Removes a file. Returns `false` if it does not exist.
  static func remove(_ path: String, on disk: any Disk) throws(RecordingError) -> Bool {
    do throws(RecordingError) {
      try RecordingError.naming(path) { () throws(SystemError) in try disk.remove(path) }
      return true
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }

  /// The names of the entries, sorted.
  static func names(in path: String, on disk: any Disk) throws(RecordingError) -> [String] {
    try RecordingError.naming(path) { () throws(SystemError) in try disk.names(in: path) }.sorted()
  }
}
