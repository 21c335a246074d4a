import HostFeature
import HostScreen
import LiveEvents
import RecorderFeature
import Recordings

extension Room {
  /// Records from here on.
  ///
  /// - Parameter end: of what the recording holds of an earlier run of the daemon; `nil` if it is new.
  func begin(_ recorder: RoomRecorder, after end: RecordedPosition? = nil) {
    recording = RoomRecording(
      recorder, isWhole: end == nil && screen.counts.received == 0, after: end)
    screen.send(.recorder(.ownStateChanged(.recording)))
  }

  /// Records no more. Gives the recorder, and the digest of the state if the recording led to it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    recording?.handOver()
    guard let ended = exchange(&recording, with: nil) else { return nil }
    return (ended.recorder, ended.isWhole ? screen.stateDigest : nil)
  }

  /// Shows what the room's own recorder does.
  func show(_ state: RecorderState) { screen.send(.recorder(.ownStateChanged(state))) }

  func show(_ progress: RecorderProgress) { screen.send(.recorder(.ownProgressed(progress))) }
}
