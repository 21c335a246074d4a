import ChatFeature
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
    let isLogged = !isUnlogged
    if let log, !log.isRecording {
      // Snapshots say from here on that nothing more of the log is to be repeated.
      keeper?.position = log.logged
      log.recorder.endSession()
    }
    loggedRejections = screen.counts.rejectedByReason
    openRecording = nil
    log = RoomLog(
      recorder, isWhole: end == nil && screen.counts.received == 0 && !isDriven, after: end)
    // What was logged leads on to the recording only by a snapshot.
    keeper?.require(at: .now())
    // Again, so that intervals begin as they will in a replay: not widened by the cost of earlier
    // frames.
    screen.apply(settings.throttling)
    // A recording that continues knows what was being analysed.
    if end == nil { restartAnalysis() }
    var change = RoomChange(settings: recordedSettings, restartsAnalysis: end == nil)
    if end == nil, isLogged { change.after = keeper?.position }
    // What happened during a pause is neither recorded nor logged then.
    if end != nil, !isLogged, !isRestoring { change.followsSnapshot = true }
    log?.addChange(change, at: clock.now)
  }

  /// Stops recording. Returns the recorder, and the digest of the state if the recording led to it. The recording
  /// stays open until ``recordingClosed(_:)``.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    if log?.isRecording == true { logRejections() }
    log?.handOver()
    guard let ended = log, ended.isRecording else { return nil }
    log = nil
    keeper?.require(at: .now())
    closingRecorder = ended.recorder
    openRecording = ended.position
    return (ended.recorder, ended.isWhole ? StateDigest.text(of: screen) : nil)
  }

  /// Logs from here on what follows the recording that has just ended, so that the log leads on from it. Without that,
  /// and while a recording is played, it would be in a snapshot only.
  func continueInLog() {
    guard log == nil, replayOffset == nil, let openRecording else { return }
    beginLog(after: keeper?.position, recorded: openRecording)
  }

  /// Calls `body` now or, if too much waits for the disk, once everything so far is there.
  func whenRecorderKeepsUp(_ body: @escaping @Sendable () -> Void) {
    log?.handOver()
    guard log?.isBehind == true else { return body() }
    log?.whenSynced(body)
    log?.handOver()
  }

  /// Notes that the recording is closed, and that everything given to the recorder is on disk, or lost.
  func recordingClosed(_ recorder: RoomRecorder?) {
    if closingRecorder === recorder { closingRecorder = nil }
    // What is saved leads to the recording until then.
    if openRecording != nil { keeper?.require(at: .now()) }
    (openRecording, saving) = (nil, nil)
  }

  /// Whether what happens is kept by a snapshot only.
  var mustSave: Bool { keeper.map { $0.isRequired || isUnlogged } ?? false }

  /// Calls `completion` once everything up to now is on disk, or cannot be: by the recording or the log, if it is
  /// handed over, or else by a snapshot.
  ///
  /// - Parameter completion: gets why it is not, and the recorder that has written everything by then, if one has.
  func whenKept(
    _ completion: @escaping @Sendable (_ failure: String?, _ written: RoomRecorder?) -> Void
  ) {
    guard let own = log?.recorder, let isRecording = log?.isRecording, !mustSave else {
      return whenSaved { completion($0 ? nil : RecordingError.notKept.description, nil) }
    }
    log?.whenSynced { [visit = keeper?.visit] in
      guard own.failure != nil, !isRecording, let visit else {
        return completion(own.failureReason, own)
      }
      // By a snapshot, then.
      visit { room in
        guard let room else { return completion(RecordingError.notKept.description, nil) }
        room.whenKept(completion)
        room.log?.handOver()
      }
    }
  }

  /// Reports to a sender that its events are applied, once they are on disk. ``recorder`` is that of the recording to
  /// which they were added, if there was one.
  func acknowledge(_ receipt: DeliveryReceipt, _ recorder: RoomRecorder?) {
    whenKept { failure, written in
      if failure != nil || recorder === written {
        receipt.markApplied(failure: failure)
      } else {
        Self.acknowledge(receipt, recorder)
      }
    }
  }

  private static func acknowledge(_ receipt: DeliveryReceipt, _ recorder: RoomRecorder?) {
    guard let recorder else { return receipt.markApplied() }
    recorder.whenSynced { receipt.markApplied(failure: recorder.failureReason) }
  }

  /// Puts new settings in force, except while a recording is played, which has its own.
  func applySettings(after old: RoomSettings) {
    requests.patience = settings.requestTimeout
    guard replayOffset == nil,
      settings.throttling != old.throttling || settings.analysesChat != old.analysesChat
    else { return }
    // Held events keep their deadline.
    screen.apply(settings.throttling)
    analyseChat(settings.analysesChat)
    log?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    log?.handOver()
  }

  /// The settings in force: a new length of the history applies only to rooms opened later.
  var recordedSettings: RecordedSettings {
    var settings = settings
    settings.chatHistory = screen.store.state.chatHistory
    settings.analysesChat = analysesChat
    return RecordedSettings(settings)
  }

  private var analysesChat: Bool { screen.store.state.analysesChat == true }

  /// Has the chat searched for waves, or no longer.
  func analyseChat(_ isWanted: Bool) {
    if isWanted != analysesChat { screen.send(.chatAnalysisWanted(isWanted)) }
  }

  /// Forgets what was found in the chat, if it is being analysed, and begins anew.
  func restartAnalysis() {
    if analysesChat { screen.send(.chatAnalysisWanted(true)) }
  }

  /// After a restart: what was being analysed is analysed again.
  func resumeAnalysis() {
    if screen.store.state.chat?.isAnalysing == true { screen.send(.chat(.analysisResumed)) }
  }
}

extension RoomRecorder: Durability {
  package var failureReason: String? { failure?.description }
}

extension RoomRecorder {
  /// Calls `completion` once everything that it was given is on disk, or lost.
  func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    var batch = RecordedBatch()
    batch.whenSynced(completion)
    post(batch)
  }
}
