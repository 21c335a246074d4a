import Composable
import HostFeature
import HostScreen
import Ingest
import LiveEvents
import NIOCore
import RecorderFeature
import Recordings

extension Room {
  /// Records from here on.
  ///
  /// - Parameter end: the end of what an earlier run of the daemon recorded; `nil` for a new
  ///   recording.
  func begin(_ recorder: RoomRecorder, after end: RecordedPosition? = nil) {
    log?.handOver()
    if let log, !log.isRecording {
      // Snapshots say from here on that nothing more of the log is to be repeated.
      keeper?.position = log.logged
      log.recorder.endSession()
    }
    loggedRejections = screen.counts.rejectedByReason
    log = RoomLog(
      recorder, isWhole: end == nil && screen.counts.received == 0 && !isDriven, after: end)
    // What was logged leads on to the recording only by a snapshot.
    keeper?.require(at: .now())
    // Again, so that intervals begin as they will in a replay: not widened by the cost of earlier
    // frames.
    screen.apply(settings.throttling)
    log?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    screen.send(.recorder(.ownStateChanged(.recording)))
  }

  /// Stops recording. Returns the recorder, and the digest of the state if the recording led to it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    log?.handOver()
    guard let ended = log, ended.isRecording else { return nil }
    log = nil
    keeper?.require(at: .now())
    closingRecorder = ended.recorder
    return (ended.recorder, ended.isWhole ? StateDigest.text(of: screen) : nil)
  }

  /// Calls `body` now or, if too much waits for the disk, once everything so far is there.
  func whenRecorderKeepsUp(_ body: @escaping @Sendable () -> Void) {
    log?.handOver()
    guard log?.isBehind == true else { return body() }
    log?.whenSynced(body)
    log?.handOver()
  }

  /// Notes that everything given to the recorder is on disk, or lost.
  func recordingClosed(_ recorder: RoomRecorder) {
    if closingRecorder === recorder { closingRecorder = nil }
  }

  /// Whether what happens is kept by a snapshot only.
  var mustSave: Bool { keeper.map { $0.isRequired || isUnlogged } ?? false }

  /// Reports to a sender that its events are applied, once they are on disk. ``recorder`` is that of the recording to
  /// which they were added, if there was one.
  func acknowledge(_ receipt: DeliveryReceipt, _ recorder: RoomRecorder?) {
    if mustSave {
      return whenSaved { isKept in
        guard isKept else {
          return receipt.markApplied(failure: RecordingError.notKept.description)
        }
        Self.acknowledge(receipt, recorder)
      }
    }
    guard let own = log?.recorder, let isRecording = log?.isRecording else {
      return Self.acknowledge(receipt, recorder)
    }
    log?.whenSynced { [visit = keeper?.visit] in
      if own.failure != nil, !isRecording, let visit {
        visit { room in
          // By a snapshot, then.
          if let room { return room.acknowledge(receipt, recorder) }
          receipt.markApplied(failure: RecordingError.notKept.description)
        }
      } else if recorder == nil || recorder === own || own.failure != nil {
        receipt.markApplied(failure: own.failureReason)
      } else {
        Self.acknowledge(receipt, recorder)
      }
    }
  }

  private static func acknowledge(_ receipt: DeliveryReceipt, _ recorder: RoomRecorder?) {
    guard let recorder else { return receipt.markApplied() }
    var batch = RecordedBatch()
    batch.whenSynced { receipt.markApplied(failure: recorder.failureReason) }
    recorder.post(batch)
  }

  /// Puts new settings in force, except while a recording is played, which has its own.
  func applySettings(after old: RoomSettings) {
    requests.patience = settings.requestTimeout
    guard replayOffset == nil, settings.throttling != old.throttling else { return }
    // Held events keep their deadline.
    screen.apply(settings.throttling)
    log?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    log?.handOver()
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
