import Composable
import HostFeature
import HostScreen
import Ingest
import LiveEvents
import RecorderFeature
import Recordings

extension Room {
  /// Records from here on.
  ///
  /// - Parameter end: of what the recording holds of an earlier run of the daemon; `nil` if it is new.
  func begin(_ recorder: RoomRecorder, after end: RecordedPosition? = nil) {
    recording = RoomRecording(
      recorder, isWhole: end == nil && screen.counts.received == 0 && !isDriven, after: end)
    // Anew, so that they begin as they will when it is played: not widened by what frames cost before.
    screen.apply(settings.throttling)
    recording?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    screen.send(.recorder(.ownStateChanged(.recording)))
  }

  /// Records no more. Gives the recorder, and the digest of the state if the recording led to it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    recording?.handOver()
    guard let ended = exchange(&recording, with: nil) else { return nil }
    closingRecorder = ended.recorder
    return (ended.recorder, ended.isWhole ? StateDigest.text(of: screen) : nil)
  }

  /// All that the recorder was given is on disk, or lost.
  func recordingClosed(_ recorder: RoomRecorder) {
    if closingRecorder === recorder { closingRecorder = nil }
  }

  /// Tells a sender that its events are applied; once they are on disk, if `recorder` has them.
  func acknowledge(
    _ acknowledgement: RoomDelivery.Acknowledgement, rejected: Int, _ recorder: RoomRecorder?
  ) {
    guard let recorder else {
      // What is acknowledged outlives the process.
      return whenKept { isKept in
        acknowledgement.applied(rejected: rejected, failure: isKept ? nil : .notKept)
      }
    }
    let isSynced: @Sendable () -> Void = {
      acknowledgement.applied(rejected: rejected, failure: recorder.failure)
    }
    if recording?.recorder === recorder {
      recording?.whenSynced(isSynced)
    } else {
      var batch = RecordedBatch()
      batch.whenSynced(isSynced)
      recorder.post(batch)
    }
  }

  /// New settings are in force. While a recording is played, its own are.
  func applySettings(after old: RoomSettings) {
    guard replayOffset == nil, settings.throttling != old.throttling else { return }
    // What is held keeps its deadline.
    screen.apply(settings.throttling)
    recording?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    recording?.handOver()
  }

  /// What holds now: another length of the history holds for rooms to come.
  var recordedSettings: RecordedSettings {
    var settings = settings
    settings.chatHistory = screen.store.state.chatHistory
    return RecordedSettings(settings)
  }

  /// Shows what the room's own recorder does.
  func show(_ state: RecorderState) { screen.send(.recorder(.ownStateChanged(state))) }

  func show(_ progress: RecorderProgress) { screen.send(.recorder(.ownProgressed(progress))) }
}
