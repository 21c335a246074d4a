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
  /// - Parameter end: the end of what an earlier run of the daemon recorded; `nil` for a new
  ///   recording.
  func begin(_ recorder: RoomRecorder, after end: RecordedPosition? = nil) {
    recording = RoomRecording(
      recorder, isWhole: end == nil && screen.counts.received == 0 && !isDriven, after: end)
    // Again, so that intervals begin as they will in a replay: not widened by the cost of earlier
    // frames.
    screen.apply(settings.throttling)
    recording?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    screen.send(.recorder(.ownStateChanged(.recording)))
  }

  /// Stops recording. Returns the recorder, and the digest of the state if the recording led to it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    recording?.handOver()
    guard let ended = exchange(&recording, with: nil) else { return nil }
    closingRecorder = ended.recorder
    return (ended.recorder, ended.isWhole ? StateDigest.text(of: screen) : nil)
  }

  /// Calls `body` now or, if too much waits for the disk, once everything so far is there.
  func whenRecorderKeepsUp(_ body: @escaping @Sendable () -> Void) {
    recording?.handOver()
    guard recording?.isBehind == true else { return body() }
    recording?.whenSynced(body)
    recording?.handOver()
  }

  /// Notes that everything given to the recorder is on disk, or lost.
  func recordingClosed(_ recorder: RoomRecorder) {
    if closingRecorder === recorder { closingRecorder = nil }
  }

  /// Reports to a sender that its events are applied; if `recorder` has them, once they are on
  /// disk.
  func acknowledge(_ receipt: DeliveryReceipt, _ recorder: RoomRecorder?) {
    guard let recorder else {
      // Whatever is acknowledged survives the process.
      return whenSaved { isKept in
        receipt.markApplied(failure: isKept ? nil : RecordingError.notKept.description)
      }
    }
    let isSynced: @Sendable () -> Void = {
      receipt.markApplied(failure: recorder.failureReason)
    }
    if recording?.recorder === recorder {
      recording?.whenSynced(isSynced)
    } else {
      var batch = RecordedBatch()
      batch.whenSynced(isSynced)
      recorder.post(batch)
    }
  }

  /// Puts new settings in force, except while a recording is played, which has its own.
  func applySettings(after old: RoomSettings) {
    guard replayOffset == nil, settings.throttling != old.throttling else { return }
    // Held events keep their deadline.
    screen.apply(settings.throttling)
    recording?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    recording?.handOver()
  }

  /// The settings in force: a new length of the history applies only to rooms opened later.
  var recordedSettings: RecordedSettings {
    var settings = settings
    settings.chatHistory = screen.store.state.chatHistory
    return RecordedSettings(settings)
  }

  /// Shows the state of the room's own recorder.
  func show(_ state: RecorderState) { screen.send(.recorder(.ownStateChanged(state))) }

  func show(_ progress: RecorderProgress) { screen.send(.recorder(.ownProgressed(progress))) }
}

extension RoomRecorder: Durability {
  package var failureReason: String? { failure?.description }
}
