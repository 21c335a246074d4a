import Composable
import HostFeature
import HostScreen
import LiveEvents
import NIOCore
import Platform
import RateLimiting
import Recordings

extension Room {
  /// How long a room waits for a moment at which its throttles hold nothing, in intervals of
  /// ``SnapshotSchedule``; after that, held events are applied early.
  ///
  /// Held events are not in a snapshot, but precede it in the log: they would be in neither.
  private static let patience: Int64 = 3

  /// When the room must be saved; `nil` if there is nothing to save, or it cannot be saved now.
  var nextSave: NIODeadline? {
    guard !isRestoring, let keeper, let due = keeper.due,
      replayOffset == nil || keeper.isRequired || keeper.hasWaiting
    else { return nil }
    let canWait = !keeper.isRequired && !keeper.hasWaiting && screen.counts.pending > 0
    return canWait ? due + SnapshotSchedule.interval * Self.patience : due
  }

  /// Saves the room if it is time.
  func saveIfDue(now: NIODeadline) {
    if log?.isLong == true { keeper?.request(at: now) }
    guard let due = nextSave, due <= now else { return }
    save(now: now)
  }

  /// Applies held events before a snapshot, which would lack them. Only the steps of a recording that is played move
  /// the time meanwhile.
  func applyHeld(_ now: NIODeadline) {
    guard screen.counts.pending > 0 else { return }
    let time = replayOffset == nil ? clock.time(machine: now.machineTime) : clock.now
    drawFrame(at: max(clock.now, time), flush: true)
  }

  /// Whether the log leads to what the room is now, and repeating it is cheaper than a snapshot.
  private var isKeptByLog: Bool {
    guard let log, replayOffset == nil, !mustSave, keeper?.hasWaiting == false
    else { return false }
    return log.isShort
  }

  /// Saves the room as it is.
  ///
  /// - Parameter isLast: whether nothing more will happen to it. If the log is enough then, and turns out to be on disk,
  ///   a snapshot is written only if not too many others are waiting.
  func save(now: NIODeadline, isLast: Bool = false) {
    guard let keeper else { return }
    applyHeld(now)
    let sufficient = isLast && isKeptByLog ? log?.writer : nil
    if replayOffset == nil, isUnlogged { beginLogBySnapshot(now) }
    logRejections()
    log?.handOver()
    log?.noteSnapshot()
    let waiting = self.keeper?.begin() ?? []
    let snapshot = snapshot(now: now)
    let number = keeper.room.nextSnapshot()
    if sufficient == nil { keeper.library.noteSaving(name.description) }
    let post: @Sendable () -> Void = {
      if let sufficient {
        if sufficient.failure == nil, keeper.store.isBusy { return }
        keeper.library.noteSaving(keeper.room.name)
      }
      keeper.store.post(snapshot, number, of: keeper.room) { isWritten in
        keeper.library.noteSaved(keeper.room.name, isWritten: isWritten)
        for waiting in waiting { waiting(isWritten) }
        keeper.visit { $0?.noteSaved(isWritten: isWritten) }
      }
    }
    guard log != nil else { return post() }
    // Never ahead of the log: everything in it behind the snapshot is repeated at the next start.
    log?.whenSynced(post)
    log?.handOver()
  }

  /// The room as it is, apart from what throttles hold.
  func snapshot(now: NIODeadline) -> RoomSnapshot {
    RoomSnapshot(
      room: name.description, savedAt: WallClock.milliseconds(),
      instant: clock.time(machine: now.machineTime), screen: screen.snapshot, sequence: sequence,
      known: known)
  }

  /// Notes that a snapshot was written or could not be.
  func noteSaved(isWritten: Bool, now: NIODeadline = .now()) {
    keeper?.end(isWritten: isWritten, now: now)
  }

  /// Calls `completion` once everything that has happened to the room is saved, or cannot be; at
  /// once if the room is not kept.
  func whenSaved(_ completion: @escaping SnapshotSchedule.Completion) {
    if keeper == nil { completion(true) } else { keeper?.whenSaved(completion) }
  }

  /// Saves the room now, whatever is in progress, and calls `completion` once that is done.
  func save(now: NIODeadline, completion: @escaping @Sendable () -> Void) {
    whenSaved { _ in completion() }
    save(now: now)
  }

  /// Ends the room because the daemon is stopping, but keeps it for the next start. Monitors end
  /// with their connections, because the room is not closed.
  func suspend(now: NIODeadline) {
    finish()
    save(now: now, isLast: true)
  }

  /// Removes what is saved of the room because it is closed for good, and then calls `completion`: with why it may come
  /// back, if that is not on disk.
  func forget(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    guard let keeper else {
      log?.writer.end()
      return completion(nil)
    }
    for waiting in self.keeper?.cancel() ?? [] { waiting(false) }
    if isUnlogged { beginLog() }
    log?.addClosing()
    let writer = log?.writer
    log?.whenSynced {
      keeper.store.remove(keeper.room) { _ in
        completion(writer?.failure?.description)
      } whenGone: {
        // Until then, only the log says that it is closed.
        keeper.library.forget(keeper.room.name)
      }
    }
    log?.handOver()
    log?.writer.end()
  }

  // MARK: The log

  /// Whether the room's batches are not logged.
  var isUnlogged: Bool { log == nil || log?.writer.failure != nil }

  /// Begins to log the room, after its newest batch.
  ///
  /// - Parameter opened: when the room was opened, if it is new.
  func beginLog(opened: Int? = nil) {
    guard let library = keeper?.library ?? recordings?.library else { return }
    let recorder = log?.recorder
    log?.writer.end()
    loggedRejections = screen.counts.rejectedByReason
    log = RoomLog(
      library.log(name.description) { [visit = keeper?.visit] in
        visit? { $0?.noteLogFailure() }
      },
      room: name.description, after: sequence, opened: opened)
    log?.keep(recorder)
    log?.unsaved.steps += exchange(&repeatedSteps, with: 0)
    log?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    log?.handOver()
  }

  /// Begins to log the room after a gap: later batches rely on the next snapshot.
  func beginLogBySnapshot(_ now: NIODeadline = .now()) {
    if log == nil, let keeper { restoredSequence = keeper.library.unusedSequence() }
    keeper?.require(at: now)
    beginLog()
  }

  /// Notes that something of the room, or of another one, could not be logged.
  func noteLogFailure(now: NIODeadline = .now()) {
    guard log?.writer.failure != nil else { return }
    keeper?.require(at: now + SnapshotSchedule.interval * 10)
  }

  // MARK: The next start

  /// Takes the steps recorded after the snapshot from which the room was restored.
  func catchUp(_ steps: [RecordedStep]) {
    replayOffset = 0
    repeatedSteps += steps.count
    play(steps)
  }

  /// Advances the time by what has passed since a snapshot, and logs the room from here on.
  ///
  /// - Parameters:
  ///   - sequence: the log sequence of what the room has seen.
  ///   - isLost: whether the log does not lead on from there, so that what follows relies on a snapshot.
  func wake(
    after saved: RoomSnapshot.Moment, at sequence: Int, isLost: Bool, now: NIODeadline
  ) {
    restoredSequence = sequence
    (isActNext, partOfBatch) = (false, nil)
    if replayOffset != nil {
      replayOffset = nil
      screen.apply(settings.throttling)
    }
    // Also of a chat that was saved with another limit: the file does not decide how much this daemon keeps.
    if !screen.store.state.keepsHistory(of: settings.chatHistory) {
      screen.send(.historyLimited(settings.chatHistory))
    }
    analyseChat(settings.analysesChat)
    isDriven = true
    let away = max(0, WallClock.milliseconds() - saved.savedAt)
    clock.advance(
      to: saved.instant + .milliseconds(Int64(clamping: away)))
    clock.resume(machine: now.machineTime)
    if isLost { beginLogBySnapshot(now) } else { beginLog() }
  }

  /// Lets the room be saved again: it has seen everything that was logged, and is being recorded if it was.
  func endRestoration() {
    isRestoring = false
    endInterruptedReplay()
    endSources(because: "livehostd was started again") { _ in true }
    resumeRequests()
    resumeRecorder()
    resumeAnalysis()
  }
}
