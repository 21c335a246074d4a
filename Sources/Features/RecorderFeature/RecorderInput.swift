package import LiveEvents

/// What happens to the room's own recorder. An input of the room like an event, but not one of the stream: a
/// recording holds it as a change, so that it does not count among what the room was sent, and only a restart
/// repeats it. A replay into another room leaves that room's recorder alone.
package enum RecorderInput: Equatable, Sendable, Codable {
  /// Somebody wants something of the recorder.
  ///
  /// - Parameter retries: whether it is tried until it works. Who waits for the outcome is told instead that it
  ///   has failed, and decides.
  case wished(wish: RecorderWish, retries: Bool)
  /// An attempt has an outcome.
  case ended(attempt: Int, outcome: RecorderOutcome)
  /// An attempt takes so long that its disk seems not to answer. It goes on all the same.
  case stalled(attempt: Int)
  /// It is time for the next attempt.
  case due(attempt: Int)
  /// Whether the disk on which recordings are written answers, as far as is known.
  case disk(answers: Bool)
  /// The running recording failed.
  case failed(reason: String)
  /// The recording that this attempt began has run for so long that the failures before it are history.
  case proven(attempt: Int)
  /// The program was started again, and the recording goes on or does not.
  case restarted(isRecording: Bool)
}

/// The outcome of an attempt to do what somebody wants of the recorder.
package enum RecorderOutcome: Equatable, Sendable, Codable {
  case started(recording: String)
  case paused
  case resumed
  /// The recording is closed; `nil` if there was none.
  case saved(recording: SavedRecording?)
  case failed(reason: String)
  /// Somebody wanted something else meanwhile.
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
