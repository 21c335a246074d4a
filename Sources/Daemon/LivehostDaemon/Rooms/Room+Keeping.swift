import ChatFeature
import Composable
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
import NIOCore
import RateLimiting
import RecorderFeature
import Recordings
import SystemSupport

// How a room is kept: in the log, by snapshots, in recordings, across restarts, and while it
// hibernates.
extension Room {
  // MARK: The log

  /// Begins the log after the room's newest batch.
  ///
  /// - Parameter opened: when the room was opened, if it is new.
  func beginLog(opened: Int? = nil) {
    guard let library = snapshots?.library ?? recordings?.library else { return }
    let writer = library.log(name.description) { [life, isKept] in
      guard isKept else { return }
      life.postVisit { room in
        // The failure may concern other rooms only.
        guard let room, room.log.writer?.failure != nil else { return }
        room.snapshots?.requireAfterFailure(now: .now())
      }
    }
    log.begin(writer, rejected: screen.counts.rejectedByReason, opened: opened)
    log.add(RoomChange(settings: recordedSettings), at: time.now)
    log.handOver()
  }

  /// Begins the log after a gap: later batches rely on the next snapshot.
  private func beginLogBySnapshot(_ now: NIODeadline) {
    if log.writer == nil, let library = snapshots?.library {
      log.resume(after: library.unusedSequence())
    }
    snapshots?.require(at: now)
    beginLog()
  }

  func logRejections() { log.add(rejected: screen.counts.rejectedByReason, at: time.now) }

  /// Calls `body` immediately or, if too many batches wait for the disk, after all of them are
  /// written.
  func whenLogKeepsUp(_ body: @escaping @Sendable () -> Void) {
    log.handOver()
    guard log.isBehind else { return body() }
    log.whenSynced(body)
    log.handOver()
  }

  /// Whether only a snapshot keeps the room's state.
  private var mustSave: Bool { snapshots.map { $0.isRequired || log.isUnlogged } ?? false }

  /// Calls `completion` with `nil` after the log or else a snapshot holds everything up to now, or
  /// immediately in a room that is not kept. Calls it with the reason if neither can be written.
  /// ``RoomLog/handOver()`` must follow.
  func whenKept(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    guard let writer = log.writer, !mustSave else {
      guard let store = snapshots?.store else { return completion(nil) }
      snapshots?.whenSaved { isSaved in
        guard !isSaved else { return completion(nil) }
        completion(store.failure?.reason ?? RecordingError.notKept.description)
      }
      return
    }
    log.whenSynced { [life, isKept] in
      guard let failure = writer.failure else { return completion(nil) }
      guard isKept else { return completion(failure.description) }
      // A snapshot takes the place of the log.
      life.postVisit { room in
        guard let room else { return completion(RecordingError.notKept.description) }
        room.whenDurable(completion)
      }
    }
  }

  /// The same, and hands over the batch.
  func whenDurable(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    whenKept(completion)
    log.handOver()
  }

  // MARK: Snapshots

  /// Whether the room is saved for the next start.
  var isKept: Bool { snapshots != nil }

  /// When the room must be saved; `nil` if there is nothing to save, or it cannot be saved now.
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

  /// Saves the room as it is.
  ///
  /// - Parameter isLast: whether nothing more will happen to it. If the log alone restores the room
  ///   then, a snapshot is written only if few others wait.
  private func save(now: NIODeadline, isLast: Bool = false) {
    guard isKept else { return }
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

  /// Applies held events, which a snapshot would lack.
  private func applyHeld(_ now: NIODeadline) {
    guard screen.counts.pending > 0 else { return }
    drawFrame(at: time.isReplaying ? time.now : time.time(at: now), flush: true)
  }

  /// The room as it is, except for what throttles hold.
  private func snapshot(now: NIODeadline, isForOtherDaemon: Bool = false) -> RoomSnapshot {
    RoomSnapshot(
      room: name.description, savedAt: WallClock.milliseconds(),
      instant: time.time(at: now), screen: screen.snapshot,
      sequence: isForOtherDaemon ? nil : log.sequence, known: known)
  }

  /// Ends the room because the daemon is stopping, but keeps it for the next start. Monitors end
  /// with their connections, because the room is not closed.
  func suspend(now: NIODeadline) {
    finish()
    save(now: now, isLast: true)
  }

  /// Removes everything that is kept of the room, because it is closed for good. Then calls
  /// `completion` with the reason why the room may come back, if its closing is not on disk.
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
        // Until then, only the log says that the room is closed.
        keeper.library.forget(life.name)
      }
    }
    log.handOver()
  }

  // MARK: Copies for other daemons

  /// The room as another daemon can continue it; `nil` during a replay, or while the room is being
  /// restored.
  func copy(now: NIODeadline = .now()) -> RoomSnapshot? {
    guard !time.isReplaying, !isRestoring else { return nil }
    applyHeld(now)
    log.handOver()
    return snapshot(now: now, isForOtherDaemon: true)
  }

  /// Continues a room that was opened with a copy from another daemon. Its first snapshot here is
  /// all that is kept.
  func continueCopy(_ snapshot: RoomSnapshot, now: NIODeadline = .now()) {
    wake(after: snapshot.moment, at: 0, isLost: true, now: now)
    endRestoration()
  }

  // MARK: Restarts

  /// Repeats steps that the log has after the snapshot from which the room was restored.
  func catchUp(_ steps: [RecordedStep]) {
    time.beginCatchingUp()
    screen.startsEffects = false
    log.addUnsaved(RoomLog.Unsaved(steps: steps.count))
    play(steps)
  }

  /// Advances the time by what has passed since a snapshot, and begins the log.
  ///
  /// - Parameters:
  ///   - sequence: the log sequence up to which the room has seen the log.
  ///   - isLost: whether the log does not continue from there, so that later batches rely on a
  ///     snapshot.
  func wake(after saved: RoomSnapshot.Moment, at sequence: Int, isLost: Bool, now: NIODeadline) {
    log.resume(after: sequence)
    assembler = StepAssembler()
    if time.isReplaying {
      time.endReplay()
      screen.startsEffects = true
      screen.apply(settings.throttling)
    }
    // Also if the chat was saved with another limit: the file does not decide how much this daemon
    // keeps.
    if !screen.store.state.keepsHistory(of: settings.chatHistory) {
      screen.send(.historyLimited(settings.chatHistory))
    }
    analyseChat(settings.analysesChat)
    let away = max(0, WallClock.milliseconds() - saved.savedAt)
    time.wake(at: saved.instant + .milliseconds(Int64(clamping: away)), now: now)
    if isLost { beginLogBySnapshot(now) } else { beginLog() }
  }

  /// Lets the room be saved again: it has seen everything in its log, and is being recorded if it
  /// was.
  func endRestoration() {
    isRestoring = false
    if known.isReplaying {
      // The last run did not end that replay.
      logReplayEnd()
      log.handOver()
    }
    endSources(because: "livehostd was started again") { _ in true }
    if hasRequests {
      // Controllers that connect are asked again.
      _ = perform(.control(.surface(.restarted)))
      log.handOver()
    }
    if screen.store.state.recorder.isUnfinished(isRecording: isRecording) {
      perform(.restarted(isRecording: isRecording))
    }
    if screen.store.state.chat?.isAnalysing == true { screen.send(.chat(.analysisResumed)) }
  }

  // MARK: Hibernation

  /// Whether only the room's state would be missed, and all of it is on disk or about to be.
  var canHibernate: Bool {
    guard log.recorder == nil, log.isShort, !log.isUnlogged, snapshots?.isIdle == true,
      !isRestoring, !recorder.holdsRecording, !time.isReplaying,
      !known.isReplaying, senders.isEmpty, !awaitsReview, screen.counts.pending == 0,
      nextFrame == nil, !feed.hasMonitors, !screenFeed.hasMonitors, requests.surfaces.isEmpty,
      screen.store.runningEffects == 0
    else { return false }
    let state = screen.store.state
    return !hasRequests && !state.recorder.isUnfinished(isRecording: isRecording)
      && state.chat?.isAnalysing != true
  }

  /// Ends the room in favour of what remains of it. `nil` if its state cannot be encoded.
  func pack(into states: inout HibernatedStates, now: NIODeadline) -> HibernatedRoom? {
    guard let writer = log.writer, isKept,
      let packed = try? HibernatedRoom(
        snapshot(now: now), summary, metrics, sources, time.clock, life.rest, log.unsaved,
        in: &states)
    else { return nil }
    writer.end()
    // For clients that got a feed just before, and have not begun to watch.
    feed.abandon()
    screenFeed.abandon()
    return packed
  }

  /// Continues a room that was made from what remained of it.
  func unpack(_ packed: HibernatedRoom, now: NIODeadline) {
    isRestoring = false
    log.resume(after: log.sequence)
    time.unpack(packed.clock, now: now)
    if screen.store.state.chatHistory != settings.chatHistory {
      screen.send(.historyLimited(settings.chatHistory))
    }
    analyseChat(settings.analysesChat)
    beginLog()
    log.addUnsaved(packed.unsaved)
  }

  // MARK: Recordings

  /// Whether the room's own recorder is writing.
  var isRecording: Bool { log.recorder != nil }

  /// The name of the recording that is being written or paused, or else of the last one.
  var recordingName: String? {
    log.recorder?.name ?? recorder.paused ?? screen.store.state.recorder.work?.recording
  }

  /// Copies all following batches to a recording.
  ///
  /// - Parameter isNew: whether the recording is still empty.
  func begin(_ recording: RoomRecorder, isNew: Bool, now: NIODeadline = .now()) {
    if log.isUnlogged { beginLogBySnapshot(now) }
    logRejections()
    log.begin(recording, isEmpty: isNew && screen.counts.received == 0)
    recorder.begin()
    // Again, so that intervals begin as they will in a replay: not widened by the cost of earlier
    // frames.
    screen.apply(settings.throttling)
    // A recording that continues knows what was being analysed.
    if isNew { restartAnalysis() }
    log.add(
      RoomChange(settings: recordedSettings, restartsAnalysis: isNew), at: time.now)
  }

  /// Begins a recording, unless the attempt has ended. Returns whether it has not.
  func begin(_ recording: RoomRecorder, for attempt: Int, as outcome: RecorderOutcome) -> Bool {
    guard isAttempting(attempt) else { return false }
    begin(recording, isNew: outcome != .resumed)
    perform(.ended(attempt: attempt, outcome: outcome))
    return true
  }

  /// Stops recording. Returns the recorder, and the digest of the state if the recording led to it.
  func endRecording() -> (recorder: RoomRecorder, digest: String?)? {
    guard isRecording else { return nil }
    logRejections()
    return log.endRecording().map { ($0.recorder, $0.isWhole ? StateDigest.text(of: screen) : nil) }
  }

  /// Pauses the recording, unless the attempt has ended.
  func pauseRecording(for attempt: Int) -> RoomRecorder? {
    guard isAttempting(attempt), let ended = endRecording() else { return nil }
    recorder.pause(ended.recorder)
    return ended.recorder
  }

  /// Stops recording for good. Returns the recording to close; `nil` if there is none.
  func takeRecording() -> OwnRecorder.EndedRecording? { recorder.close(endRecording()) }

  /// After a restart: returns the recording to continue, which was being written when the program
  /// ended; `nil` if there is none.
  ///
  /// - Parameter saved: the recording that an earlier version was writing.
  func recordingToContinue(_ saved: String?) -> String? {
    recorder.restore(screen.store.state.recorder, saved: saved)
  }

  /// Shows the progress of the recorder, which it reports once a second.
  func show(_ progress: RecorderProgress) {
    let shown = isRecording ? progress : recorder.progress(progress, at: time.now)
    if let shown { screen.send(.recorder(.ownProgressed(shown))) }
  }
}
