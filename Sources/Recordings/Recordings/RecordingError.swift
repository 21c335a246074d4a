import Glibc

/// Why a recording could not be made, cannot go on or cannot be read.
package enum RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A call of the kernel failed; `code` is its `errno`.
  case file(operation: String, path: String, code: Int32)
  /// The catalogue could not be read or written.
  case catalogue(String)
  /// More waits for the disk than may.
  case diskTooSlow
  case noSuchRecording(String)
  /// The state of a room that is not recorded could not be written, or the room was closed.
  case notKept
  /// A segment is not what was written: its checksum differs, or a line of it is none.
  case damaged(recording: String, segment: Int)
  /// Recordings are being closed, since the program ends.
  case closing

  package var description: String {
    switch self {
    case .file(let operation, let path, let code):
      "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    case .catalogue(let problem): "the catalogue of recordings: \(problem)"
    case .diskTooSlow: "the disk does not keep up with the events"
    case .notKept: "the state of the room is not kept for the next start"
    case .noSuchRecording(let name): "there is no recording '\(name)'"
    case .damaged(let recording, let segment):
      "segment \(segment) of recording '\(recording)' is damaged"
    case .closing: "recordings are being closed"
    }
  }
}
