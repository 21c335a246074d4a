import FileSystem
import Glibc
import SystemSupport

/// Why a call on the log or on a recording failed.
package enum RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A system call failed; `code` is its `errno`.
  case file(operation: String, path: String, code: Int32)
  /// The catalogue could not be read or written.
  case catalogue(String)
  /// Another program locks the catalogue.
  case catalogueBusy
  /// Too many events are waiting for the disk.
  case diskTooSlow
  case noSuchRecording(String)
  /// The recording is being written or read.
  case inUse(String)
  /// The state of a room could not be written, or the room was closed.
  case notKept
  /// A segment differs from what was written: a checksum does not match, or a line is malformed.
  case damaged(recording: String, Damage)
  /// The checksum in a file of a ``StateDirectory`` does not match.
  case rotten(path: String)
  case tooLarge(path: String, bytes: Int)
  /// The library is closed because the program is ending.
  case closing

  /// Creates the error for a failed system call on a file or directory.
  init(_ error: SystemError, _ path: String) {
    self = .file(operation: error.operation.name, path: path, code: error.code)
  }

  /// Performs a system call, and adds the path to its error.
  static func naming<R>(
    _ path: String, _ call: () throws(SystemError) -> R
  ) throws(RecordingError) -> R {
    do throws(SystemError) { return try call() } catch { throw RecordingError(error, path) }
  }

  /// Whether the file does not exist.
  package var isMissing: Bool {
    if case .file(_, _, code: ENOENT) = self { true } else { false }
  }

  package var description: String {
    switch self {
    case .file(let operation, let path, let code):
      "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    case .catalogue(let problem): "the catalogue of recordings: \(problem)"
    case .catalogueBusy: "the catalogue of recordings is locked by another program"
    case .diskTooSlow: "the disk cannot keep up with the events"
    case .notKept: "the state of the room cannot be saved for the next start"
    case .noSuchRecording(let name): "there is no recording '\(name)'"
    case .inUse(let name): "the recording '\(name)' is being written or read"
    case .damaged(let recording, let damage): "recording '\(recording)': \(damage)"
    case .rotten(let path): "\(path) is damaged: its checksum does not match"
    case .tooLarge(let path, let bytes): "\(path) is too large: it has \(bytes) bytes"
    case .closing: "the recordings are being closed"
    }
  }
}
