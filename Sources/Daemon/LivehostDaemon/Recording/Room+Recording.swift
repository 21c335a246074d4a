import HostFeature
import HostScreen
import LiveEvents
import RecorderFeature
import Recordings

extension Room {
  /// Records from here on.
  ///
  /// - Parameter isResumed: whether the recording holds steps of an earlier run of the daemon.
  func begin(_ recorder: RoomRecorder, isResumed: Bool = false) {
    recording = RoomRecording(recorder, isWhole: !isResumed && screen.counts.received == 0)
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
