import Glibc

/// A check that only this user can change a directory.
enum DirectorySafety {
  /// Returns what is wrong with a directory, and the remedy; `nil` if it is safe or does not exist.
  /// The remedy includes the command-line option that selects another directory.
  ///
  /// Another user with write access to the directory could replace the sockets and files in it, for
  /// example by links to files of the daemon's user.
  static func problem(at path: String, option: String) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: break
    case S_IFLNK:
      return "is a symbolic link; specify its target directory with \(option)"
    default: return "exists but is not a directory"
    }
    guard status.st_uid == geteuid() else {
      return "belongs to user \(status.st_uid), but livehostd runs as user \(geteuid()); "
        + "choose another directory with \(option)"
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      return "is writable by other users; remove their access with 'chmod go-w', "
        + "or choose another directory with \(option)"
    }
    return nil
  }
}
