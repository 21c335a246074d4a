import FileSystem
import SystemSupport

/// A recording that is deleted: its directory has a name that no recording has, until all its files
/// are removed.
///
/// So a crash leaves either all of the recording or nothing of it, and the next start removes what
/// is left.
enum DeletedRecording {
  private static let prefix = ".deleted-"

  static func path(of recording: String, in directory: String) -> String {
    directory + "/" + prefix + recording
  }

  /// The recording that had this directory; `nil` if it is not a deleted one's.
  static func recording(in entry: String) -> String? {
    entry.hasPrefix(prefix) ? String(entry.dropFirst(prefix.count)) : nil
  }

  /// Removes a file of it or, behind the last one, the directory; `false` if there is nothing left.
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
