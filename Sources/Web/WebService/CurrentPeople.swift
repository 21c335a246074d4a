import Glibc
import Locking
import SystemSupport

/// The people with personal links, as their file contains them now. Each use examines the file,
/// which takes about a microsecond, and reads it only after a change. Callable from any thread.
package final class CurrentPeople: Sendable {
  /// Identifies a version of the file. The time is `st_ctim`: it changes with the contents, the
  /// permissions and the owner, and programs cannot set it.
  private struct Stamp: Equatable {
    let (device, inode, bytes, mode, owner): (UInt, UInt, Int, UInt32, UInt32)
    let (seconds, nanoseconds): (Int, Int)
  }

  private struct State {
    var stamp: Stamp?
    var people = InvitedPeople()
    var problem: PrivateFileFailure?
  }

  private let file: PeopleFile
  private let onProblem: @Sendable (PrivateFileFailure) -> Void
  private let state = Guarded(State())

  /// - Parameter onProblem: receives each reason why the file cannot be read, once. Until the file
  ///   can be read, nobody in it has access.
  package init(
    _ file: PeopleFile, onProblem: @escaping @Sendable (PrivateFileFailure) -> Void
  ) {
    (self.file, self.onProblem) = (file, onProblem)
  }

  package var list: InvitedPeople {
    var problem: PrivateFileFailure?
    defer { if let problem { onProblem(problem) } }
    return state.withLock { state in
      let stamp = stamp
      guard stamp != state.stamp else { return state.people }
      let old = state.problem
      state = State(stamp: stamp)
      do throws(PrivateFileFailure) {
        state.people = try file.read()
      } catch {
        // A failed call, for example because too many files are open, may succeed later although
        // the file has not changed. The next use therefore reads the file again.
        if error.code != nil { state.stamp = nil }
        state.problem = error
        if old != error { problem = error }
      }
      return state.people
    }
  }

  private var stamp: Stamp? {
    var status = stat()
    guard lstat(file.path, &status) == 0 else { return nil }
    return Stamp(
      device: status.st_dev, inode: status.st_ino, bytes: status.st_size, mode: status.st_mode,
      owner: status.st_uid, seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
  }
}
