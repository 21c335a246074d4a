package import LiveEvents

/// Inputs of the room's own recorder. They are inputs of the room but not events of the stream. A
/// recording stores them as changes, so they do not count as received events, and only a restart
/// replays them. A replay into another room does not affect that room's recorder.
package enum RecorderInput: Equatable, Sendable, Codable {
  /// Something is requested of the recorder.
  ///
  /// - Parameter retries: Whether attempts are repeated until one succeeds. Otherwise, the
  ///   requester receives the failure and decides.
  case wished(wish: RecorderWish, retries: Bool)
  /// An attempt has ended.
  case ended(attempt: Int, outcome: RecorderOutcome)
  /// An attempt takes so long that the disk seems unresponsive. The attempt continues.
  case stalled(attempt: Int)
  /// The next attempt is due.
  case due(attempt: Int)
  /// Whether the disk for recordings is known to respond.
  case disk(answers: Bool)
  /// The current recording failed.
  case failed(reason: String)
  /// The recording of this attempt has run long enough that earlier failures no longer count.
  case proven(attempt: Int)
  /// The program was restarted; `isRecording` is whether the recording continues.
  case restarted(isRecording: Bool)
}

/// The outcome of an attempt.
package enum RecorderOutcome: Equatable, Sendable, Codable {
  case started(recording: String)
  case paused
  case resumed
  /// The recording was closed; `nil` if there was none.
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
