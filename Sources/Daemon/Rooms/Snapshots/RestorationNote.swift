import FileSystem
import Foundation
import Glibc
import Locking
import SystemSupport

/// A file that names the rooms that the starting daemon is working on. If the daemon crashes, the
/// next start reads from the file which rooms may have caused the crash.
///
/// The file only has to survive the process, so it is never synced: a power failure is not caused
/// by a room. It is overwritten in place, because ext4 immediately flushes a file that is truncated
/// and rewritten, which takes 2.5 ms for each room.
package final class RestorationNote: Sendable {
  /// The rooms that the last run was working on when it ended, each with the number of consecutive
  /// runs that ended while working on it.
  package let deaths: [String: Int]
  private let path: String
  private let file: Guarded<File>

  private struct File: Sendable {
    var descriptor: CInt = -1
    /// The length of the longest text that was written. Shorter texts are padded with spaces.
    var bytes = 0
  }

  /// Reads the file that the last run left.
  package init(_ path: String) {
    self.path = path
    // Opening a pipe could block forever. Nothing is lost, because ``end()`` removes anything with
    // this name anyway.
    if (try? SystemDisk().state(of: path))?.kind == .other { unlink(path) }
    let text = try? String(contentsOfFile: path, encoding: .utf8)
    deaths = Dictionary(
      (text ?? "").split(whereSeparator: \.isNewline).compactMap { line in
        let parts = line.split(separator: " ")
        guard parts.count == 2, let deaths = Int(parts[1]) else { return nil }
        return (String(parts[0]), deaths)
      }, uniquingKeysWith: max)
    // Includes the padding of the last run.
    file = Guarded(File(bytes: text?.utf8.count ?? 0))
  }

  deinit { file.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// Records that the daemon is about to work on rooms, which may crash it. Replaces the rooms
  /// recorded before.
  ///
  /// - Parameter rooms: few enough to fit into a page of memory, so that after a kill the file
  ///   names either all of these rooms or the previous ones. Empty if the next work concerns no
  ///   room.
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

  /// Removes the file, because the daemon has started.
  package func end() { unlink(path) }
}
