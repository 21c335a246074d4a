import FileSystem
import Foundation
import Glibc
import Locking
import SystemSupport

/// Says in a file at which rooms the daemon is working while it starts, for the next start if it
/// dies there.
///
/// Survives the process; a power failure is nobody's fault, so there is no sync. Written in place:
/// what was truncated and is written again is flushed by ext4 at once, 2.5 ms for each room.
package final class RestorationNote: Sendable {
  /// The rooms at which the last run was working when it ended, and how many runs in a row ended
  /// there.
  package let deaths: [String: Int]
  private let path: String
  private let file: Guarded<File>

  private struct File: Sendable {
    var descriptor: CInt = -1
    /// The longest that was written: what is shorter is filled up with spaces.
    var bytes = 0
  }

  /// Reads what the last run left.
  package init(_ path: String) {
    self.path = path
    // To open a pipe might never end. Whatever has this name is gone at the end of the start in any
    // case.
    if (try? SystemDisk().state(of: path))?.kind == .other { unlink(path) }
    let text = try? String(contentsOfFile: path, encoding: .utf8)
    deaths = Dictionary(
      (text ?? "").split(whereSeparator: \.isNewline).compactMap { line in
        let parts = line.split(separator: " ")
        guard parts.count == 2, let deaths = Int(parts[1]) else { return nil }
        return (String(parts[0]), deaths)
      }, uniquingKeysWith: max)
    // With the spaces of the last run, if it left any.
    file = Guarded(File(bytes: text?.utf8.count ?? 0))
  }

  deinit { file.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// Notes that the daemon is about to do something with rooms at which it may die, instead of what
  /// was noted before.
  ///
  /// - Parameter rooms: few enough for a page of memory, so that a kill leaves all of them or those
  ///   before. None: what comes next is about no room.
  package func begin(_ rooms: [String]) {
    let lines = rooms.map { "\($0) \((deaths[$0] ?? 0) + 1)\n" }
    file.withLock { file in
      if file.descriptor < 0 {
        file.descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
        guard file.descriptor >= 0 else { return }
      }
      var text = Array(lines.joined().utf8)
      file.bytes = max(file.bytes, text.count)
      text += Array(repeating: UInt8(ascii: " "), count: file.bytes - text.count)
      _ = pwrite(file.descriptor, text, text.count, 0)
    }
  }

  /// Notes that the daemon has started.
  package func end() { unlink(path) }
}
