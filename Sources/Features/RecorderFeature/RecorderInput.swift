package import LiveEvents

/// Inputs of the room's own recorder, which are not events of the stream. A recording stores these
/// inputs as changes, so they do not count as received events, and only a restart replays them. A
/// replay into another room does not affect that room's recorder.
package enum RecorderInput: Equatable, Sendable, Codable {
  /// A request to the recorder. With `retries`, failed attempts are repeated; otherwise the
  /// requester receives the failure and decides.
  case wished(wish: RecorderWish, retries: Bool)
  case ended(attempt: Int, outcome: RecorderOutcome)
  /// An attempt takes so long that the disk seems unresponsive. The attempt continues.
  case stalled(attempt: Int)
  /// The next attempt is due.
  case due(attempt: Int)
  case disk(answers: Bool)
  case failed(reason: String)
  /// The recording of this attempt has run long enough that earlier failures no longer count.
  case proven(attempt: Int)
  /// The daemon restarted, and the recording continues if `isRecording` is true.
  case restarted(isRecording: Bool)
}

package enum RecorderOutcome: Equatable, Sendable, Codable {
  case started(recording: String)
  case paused
  case resumed
  /// The recording was closed; `nil` means that there was none.
  case saved(recording: SavedRecording?)
  case failed(reason: String)
  /// Another request replaced the attempt.
  case replaced
}

package struct SavedRecording: Equatable, Sendable, Codable {
  package let name: String
  package let bytes: Int
  package let durationMilliseconds: Int

  package init(name: String, bytes: Int, durationMilliseconds: Int) {
    self.name = name
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
  }
}
