import ChatFeature
import Composable
import HostFeature
import HostScreen
import Ingest
import LiveEvents
import NIOCore
import Platform
import RecorderFeature
import Recordings

extension Room {
  /// Copies all following batches to a recording.
  ///
  /// - Parameter isNew: whether the recording is still empty.
  func begin(_ recorder: RoomRecorder, isNew: Bool) {
    if isUnlogged { beginLogBySnapshot() }
    logRejections()
    log?.begin(recorder, isWhole: isNew && screen.counts.received == 0 && !isDriven)
    pausedRecording = nil
    // Again, so that intervals begin as they will in a replay: not widened by the cost of earlier
    // frames.
    screen.apply(settings.throttling)
    // A recording that continues knows what was being analysed.
    if isNew { restartAnalysis() }
    log?.addChange(
      RoomChange(settings: recordedSettings, restartsAnalysis: isNew), at: clock.now)
  }

  /// Stops recording. Returns the recorder, and the digest of the state if the recording led to it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    guard let recorder = log?.recorder, let isWhole = log?.isWhole else { return nil }
    logRejections()
    log?.endRecording()
    return (recorder, isWhole ? StateDigest.text(of: screen) : nil)
  }

  /// Calls `body` now or, if too much waits for the disk, once everything so far is there.
  func whenLogKeepsUp(_ body: @escaping @Sendable () -> Void) {
    log?.handOver()
    guard log?.isBehind == true else { return body() }
    log?.whenSynced(body)
    log?.handOver()
  }

  /// Whether what happens is kept by a snapshot only.
  var mustSave: Bool { keeper.map { $0.isRequired || isUnlogged } ?? false }

  /// Calls `completion` with `nil` once the log, or else a snapshot, holds everything up to now. Calls it with the reason if
  /// neither can be written.
  func whenKept(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    guard let writer = log?.writer, !mustSave else {
      return whenSaved { [store = keeper?.store] isSaved in
        guard !isSaved else { return completion(nil) }
        completion(store?.failure?.reason ?? RecordingError.notKept.description)
      }
    }
    log?.whenSynced { [visit = keeper?.visit] in
      guard let failure = writer.failure else { return completion(nil) }
      guard let visit else { return completion(failure.description) }
      // By a snapshot, then.
      visit { room in
        guard let room else { return completion(RecordingError.notKept.description) }
        room.whenKept(completion)
        room.log?.handOver()
      }
    }
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
