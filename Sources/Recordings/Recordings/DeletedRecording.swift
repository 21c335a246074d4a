import FileSystem
import SystemSupport

/// The deletion of a recording. Its directory is first renamed to a name that no recording can
/// have, then its files are removed.
///
/// After a crash the recording is therefore either complete or deleted. The next start removes the
/// remaining files.
enum DeletedRecording {
  private static let prefix = ".deleted-"

  static func path(of recording: String, in directory: String) -> String {
    directory + "/" + prefix + recording
  }

  /// Returns the name of the deleted recording in a directory; `nil` for any other directory.
  static func recording(in entry: String) -> String? {
    entry.hasPrefix(prefix) ? String(entry.dropFirst(prefix.count)) : nil
  }

  /// Removes one file or, if there is none, the directory. Returns whether more calls are needed.
  static func removeNext(in path: String, on disk: any Disk) throws(RecordingError) -> Bool {
    do throws(RecordingError) {
      let file = try Directories.names(in: path, on: disk).last
      try RecordingError.naming(path) { () throws(SystemError) in
        guard let file else { return try disk.removeDirectory(path) }
        try disk.remove(path + "/" + file)
      }
      return file != nil
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }
}
