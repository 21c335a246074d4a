import ChatFeature
import Composable
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
package import NIOCore
import RateLimiting
import RecorderFeature
import Recordings
import SystemSupport

// Saving and restoring a room: the log, snapshots, recordings, restarts and hibernation.
extension Room {
  // MARK: The log

  /// Begins the room's log after its newest batch. A new room was opened at `opened`, in
  /// milliseconds since 1970.
  func beginLog(opened: Int? = nil) {
    guard let library = snapshots?.library ?? recordings?.library else { return }
    let writer = library.log(name.description) { [life, isPersistent] in
      guard isPersistent else { return }
      life.postVisit { room in
        // A failure of the log may concern only other rooms.
        guard let room, room.log.writer?.failure != nil else { return }
        room.snapshots?.requireAfterFailure(now: .now())
      }
    }
    log.begin(writer, rejected: screen.counts.rejectedByReason, opened: opened)
    log.add(RoomChange(settings: recordedSettings), at: time.now)
    log.handOver()
  }

  /// Begins the log after a gap. Later batches can be replayed only from the next snapshot.
  private func beginLogBySnapshot(_ now: NIODeadline) {
    if log.writer == nil, let library = snapshots?.library {
      log.resume(after: library.unusedSequence())
    }
    snapshots?.require(at: now)
    beginLog()
  }

  func logRejections() { log.add(rejected: screen.counts.rejectedByReason, at: time.now) }

  /// Calls `body` immediately or, if too many batches wait for the disk, once all of them are
  /// written.
  func whenLogKeepsUp(_ body: @escaping @Sendable () -> Void) {
    log.handOver()
    guard log.isBehind else { return body() }
    log.whenSynced(body)
    log.handOver()
  }

  /// Whether the room's state survives a restart only after another snapshot.
  private var mustSave: Bool { snapshots.map { $0.isRequired || log.isUnlogged } ?? false }

  /// Calls `completion` with `nil` once the log or a snapshot holds everything up to now, or
  /// immediately in a room that is neither logged nor saved. If writing fails, calls `completion`
  /// with the reason. Call ``RoomLog/handOver()`` afterwards.
  func whenStored(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    guard let writer = log.writer, !mustSave else {
      guard let store = snapshots?.store else { return completion(nil) }
      snapshots?.whenSaved { isSaved in
        guard !isSaved else { return completion(nil) }
        completion(store.failure?.reason ?? RecordingError.notKept.description)
      }
      return
    }
    log.whenSynced { [life, isPersistent] in
      guard let failure = writer.failure else { return completion(nil) }
      guard isPersistent else { return completion(failure.description) }
      // The log failed, so a snapshot is saved instead.
      life.postVisit { room in
        guard let room else { return completion(RecordingError.notKept.description) }
        room.whenDurable(completion)
      }
    }
  }

  /// Does the same as ``whenStored(_:)``, and hands the batch over to the log.
  func whenDurable(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    whenStored(completion)
    log.handOver()
  }

  // MARK: Snapshots

  /// Whether the room's state is saved, so that the next start of the daemon restores it.
  var isPersistent: Bool { snapshots != nil }

  /// When the room must be saved; `nil` if no change is unsaved, or if it cannot be saved now.
  var nextSave: NIODeadline? {
    guard !isRestoring else { return nil }
    return snapshots?.due(
      holdsEvents: screen.counts.pending > 0, isReplaying: time.isReplaying)
  }

  func saveIfDue(now: NIODeadline) {
    if log.isLong { snapshots?.request(at: now) }
    guard let due = nextSave, due <= now else { return }
    save(now: now)
  }

  /// Saves the room's state. If the room is about to end and replaying its log suffices to restore
  /// it, a snapshot is written only if few others wait.
  private func save(now: NIODeadline, isLast: Bool = false) {
    guard isPersistent else { return }
    applyHeld(now)
    let isLogEnough =
      isLast && log.isShort && !time.isReplaying && !mustSave && snapshots?.hasWaiting == false
    let sufficient = isLogEnough ? log.writer : nil
    if !time.isReplaying, log.isUnlogged { beginLogBySnapshot(now) }
    logRejections()
    log.handOver()
    log.resetUnsaved()
    let snapshot = snapshot(now: now)
    guard let post = snapshots?.save(snapshot, of: life, unless: sufficient) else { return }
    guard log.writer != nil else { return post() }
    log.whenSynced(post)
    log.handOver()
  }

  /// Applies held events, which a snapshot does not contain.
  private func applyHeld(_ now: NIODeadline) {
    guard screen.counts.pending > 0 else { return }
    drawFrame(at: time.isReplaying ? time.now : time.time(at: now), flush: true)
  }

  /// Returns the state of the room without the events that throttles hold.
  private func snapshot(now: NIODeadline, isForOtherDaemon: Bool = false) -> RoomSnapshot {
    RoomSnapshot(
      room: name.description, savedAt: WallClock.milliseconds(),
      instant: time.time(at: now), screen: screen.snapshot,
      sequence: isForOtherDaemon ? nil : log.sequence, known: known)
  }

  /// Ends the room because the daemon is stopping, and saves it for the next start. The room is not
  /// closed, so its monitors end only with their connections.
  func suspend(now: NIODeadline) {
    finish()
    save(now: now, isLast: true)
  }

  /// Removes the log and the snapshots of the room, because it is closed permanently. Then calls
  /// `completion`. If the closing could not be written to disk, passes the reason, because the next
  /// start may then restore the room.
  func forget(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    defer { log.writer?.end() }
    guard let keeper = snapshots else { return completion(nil) }
    for waiting in snapshots?.cancel() ?? [] { waiting(false) }
    if log.isUnlogged { beginLog() }
    log.addClosing()
    let writer = log.writer
    log.whenSynced { [life] in
      keeper.store.remove(life) { _ in
        completion(writer?.failure?.description)
      } whenGone: {
        // Until the snapshot is removed, only the log records that the room is closed.
        keeper.library.forget(life.name)
      }
    }
    log.handOver()
  }

  // MARK: Copies for other daemons

  /// Returns a copy with which another daemon can continue the room; `nil` during a replay, or
  /// while the room is being restored.
  package func copy(now: NIODeadline = .now()) -> RoomSnapshot? {
    guard !time.isReplaying, !isRestoring else { return nil }
    applyHeld(now)
    log.handOver()
    return snapshot(now: now, isForOtherDaemon: true)
  }

  /// Continues a room that was opened with a copy from another daemon. The log here lacks the
  /// copy's events, so only the next snapshot makes the room survive a restart.
  package func continueCopy(_ snapshot: RoomSnapshot, now: NIODeadline = .now()) {
    wake(after: snapshot.moment, at: 0, isLost: true, now: now)
    endRestoration()
  }

  // MARK: Restarts

  /// Replays the steps that were logged after the snapshot from which the room was restored.
  func catchUp(_ steps: [RecordedStep]) {
    time.beginCatchingUp()
    screen.startsEffects = false
    log.addUnsaved(RoomLog.Unsaved(steps: steps.count))
    play(steps)
  }

  /// Advances the room's time by the time since a snapshot, and begins the log.
  ///
  /// - Parameters:
  ///   - sequence: the log sequence up to which the room has replayed the log.
  ///   - isLost: whether the log has a gap after `sequence`, so that later batches can be replayed
  ///     only from a new snapshot.
  func wake(after saved: RoomSnapshot.Moment, at sequence: Int, isLost: Bool, now: NIODeadline) {
    log.resume(after: sequence)
    assembler = StepAssembler()
    if time.isReplaying {
      time.endReplay()
      screen.startsEffects = true
      screen.apply(settings.throttling)
    }
    // The limit of the chat's history applies even if the snapshot was saved with another limit,
    // because a file must not decide how much memory this daemon uses.
    if !screen.store.state.hasHistoryLimit(settings.chatHistory) {
      screen.send(.historyLimited(settings.chatHistory))
    }
    analyseChat(settings.analysesChat)
    let away = max(0, WallClock.milliseconds() - saved.savedAt)
    time.wake(at: saved.instant + .milliseconds(Int64(clamping: away)), now: now)
    if isLost { beginLogBySnapshot(now) } else { beginLog() }
  }

  /// Ends the restoration: the room has replayed its log, and its recording was continued, so it
  /// may be saved again.
  func endRestoration() {
    isRestoring = false
    if known.isReplaying {
      // The daemon stopped during a replay, whose end is therefore logged now.
      logReplayEnd()
      log.handOver()
    }
    endSources(because: "livehostd was started again") { _ in true }
    if hasRequests {
      // Requests are sent again to controllers that connect.
      _ = perform(.control(.controller(.restarted)))
      log.handOver()
    }
    if screen.store.state.recorder.isUnfinished(isRecording: isRecording) {
      perform(.restarted(isRecording: isRecording))
    }
    if screen.store.state.chat?.isAnalysing == true { screen.send(.chat(.analysisResumed)) }
  }

  // MARK: Hibernation

  /// Whether the room can hibernate: only its state is needed, and all of it is on disk or about to
  /// be.
  var canHibernate: Bool {
    guard log.recorder == nil, log.isShort, !log.isUnlogged, snapshots?.isIdle == true,
      !isRestoring, !recorder.holdsRecording, !time.isReplaying,
      !known.isReplaying, senders.isEmpty, !awaitsReview, screen.counts.pending == 0,
      nextFrame == nil, !feed.hasMonitors, !screenFeed.hasMonitors, requests.controllers.isEmpty,
      screen.store.runningEffects == 0
    else { return false }
    let state = screen.store.state
    return !hasRequests && !state.recorder.isUnfinished(isRecording: isRecording)
      && state.chat?.isAnalysing != true
  }

  /// Replaces the room by its compressed state; returns `nil` if the state cannot be encoded.
  func hibernate(into states: inout HibernatedStates, now: NIODeadline) -> HibernatedRoom? {
    guard let writer = log.writer, isPersistent,
      let hibernated = try? HibernatedRoom(
        snapshot(now: now), summary, metrics, sources, time.clock, life.rest, log.unsaved,
        in: &states)
    else { return nil }
    writer.end()
    // Disconnects clients that have just received a feed but have not begun to watch.
    feed.abandon()
    screenFeed.abandon()
    return hibernated
  }

  /// Continues a room that was restored from its compressed state.
  func wake(from hibernated: HibernatedRoom, now: NIODeadline) {
    isRestoring = false
    log.resume(after: log.sequence)
    time.wake(with: hibernated.clock, now: now)
    if screen.store.state.chatHistory != settings.chatHistory {
      screen.send(.historyLimited(settings.chatHistory))
    }
    analyseChat(settings.analysesChat)
    beginLog()
    log.addUnsaved(hibernated.unsaved)
  }

  // MARK: Recordings

  var isRecording: Bool { log.recorder != nil }

  /// The name of the recording being written or paused, or else of the last one.
  var recordingName: String? {
    log.recorder?.name ?? recorder.paused ?? screen.store.state.recorder.work?.recording
  }

  /// Copies all later batches to a recording, which is still empty if `isNew`.
  func begin(_ recording: RoomRecorder, isNew: Bool, now: NIODeadline = .now()) {
    if log.isUnlogged { beginLogBySnapshot(now) }
    logRejections()
    log.begin(recording, isEmpty: isNew && screen.counts.received == 0)
    recorder.begin()
    // Resets the intervals that expensive frames have widened, so that they begin as in a replay.
    screen.apply(settings.throttling)
    // A continued recording contains the state of the analysis already.
    if isNew { restartAnalysis() }
    log.add(
      RoomChange(settings: recordedSettings, restartsAnalysis: isNew), at: time.now)
  }

  /// Begins a recording unless the attempt has ended. Returns whether the recording began.
  func begin(_ recording: RoomRecorder, for attempt: Int, as outcome: RecorderOutcome) -> Bool {
    guard isAttempting(attempt) else { return false }
    begin(recording, isNew: outcome != .resumed)
    perform(.ended(attempt: attempt, outcome: outcome))
    return true
  }

  /// Stops recording. Returns the recorder, and the digest of the state if the recording can
  /// reproduce it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    guard isRecording else { return nil }
    logRejections()
    return log.endRecording().map { ($0.recorder, $0.isWhole ? StateDigest.text(of: screen) : nil) }
  }

  /// Pauses the recording unless the attempt has ended.
  func pauseRecording(for attempt: Int) -> RoomRecorder? {
    guard isAttempting(attempt), let ended = endRecording() else { return nil }
    recorder.pause(ended.recorder)
    return ended.recorder
  }

  /// Stops recording permanently. Returns the recording to close; `nil` if there is none.
  func closeRecording() -> OwnRecorder.EndedRecording? { recorder.close(endRecording()) }

  /// Returns the recording to continue, because it was being written when the daemon stopped; `nil`
  /// if there is none. `saved` is such a recording of an earlier version of the daemon.
  func recordingToContinue(_ saved: String?) -> String? {
    recorder.restore(screen.store.state.recorder, saved: saved)
  }

  /// Shows the progress that the recorder reports once a second.
  func show(_ progress: RecorderProgress) {
    let shown = isRecording ? progress : recorder.progress(progress, at: time.now)
    if let shown { screen.send(.recorder(.ownProgressed(shown))) }
  }
}
