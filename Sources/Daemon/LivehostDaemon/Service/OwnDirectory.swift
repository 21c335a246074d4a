import Glibc

/// A directory that nobody else can change: what is in it is what this user put there.
enum OwnDirectory {
  /// What is wrong with a directory, with the remedy; `nil` if nothing is, or if it does not exist.
  ///
  /// Whoever may write to the directory could exchange the sockets and files in it for their own, or for
  /// links to files of this user.
  ///
  /// - Parameter option: the command-line option that names another directory.
  static func problem(at path: String, option: String) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: break
    case S_IFLNK:
      return "is a symbolic link; name the directory that it leads to with \(option)"
    default: return "exists but is not a directory"
    }
    guard status.st_uid == geteuid() else {
      return "belongs to user \(status.st_uid), not to user \(geteuid()) as which livehostd runs; "
        + "choose another one with \(option)"
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      return "can be written by other users; make it yours alone with 'chmod go-w', "
        + "or choose another one with \(option)"
    }
    return nil
  }
}
