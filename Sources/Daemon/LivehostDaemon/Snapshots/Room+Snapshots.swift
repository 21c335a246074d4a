import Composable
import HostScreen
import LiveEvents
import NIOCore
import Platform
import RateLimiting
import Recordings

extension Room {
  /// How long a room that records waits for a moment at which its throttles hold nothing, in
  /// intervals of ``SnapshotSchedule``; after that, held events are applied early.
  ///
  /// Held events are not in a snapshot, but precede it in the recording: they would be in neither.
  private static let patience: Int64 = 3

  private var revision: SnapshotSchedule.Revision {
    SnapshotSchedule.Revision(actions: screen.store.actionCount, events: screen.counts.received)
  }

  /// Whether something is recorded and held.
  private var isHolding: Bool { recording != nil && screen.counts.pending > 0 }

  /// When the room must be saved; `nil` if there is nothing to save, or it cannot be saved now.
  var nextSave: NIODeadline? {
    guard let due = keeper?.due(revision), replayOffset == nil || recording == nil else {
      return nil
    }
    return isHolding ? due + SnapshotSchedule.interval * Self.patience : due
  }

  /// Saves the room if it is time.
  func saveIfDue(now: NIODeadline) {
    guard let due = nextSave, due <= now else { return }
    applyHeld(now)
    save(now: now)
  }

  /// Applies held events before a snapshot, which would lack them.
  private func applyHeld(_ now: NIODeadline) {
    guard isHolding, replayOffset == nil else { return }
    drawFrame(at: max(clock.now, clock.time(machine: now.machineTime)), flush: true)
  }

  /// Saves the room as it is.
  func save(now: NIODeadline) {
    guard let keeper, let waiting = self.keeper?.begin(revision, now: now) else { return }
    let snapshot = RoomSnapshot(
      room: name.description, savedAt: WallClock.milliseconds(),
      instant: clock.time(machine: now.machineTime), screen: screen.snapshot,
      recording: recording?.position)
    let post: @Sendable () -> Void = {
      [store = keeper.store, room = keeper.room, onEnd = keeper.onEnd] in
      store.post(snapshot, of: room) { isWritten in
        for waiting in waiting { waiting(isWritten) }
        onEnd()
      }
    }
    guard recording != nil else { return post() }
    // Never ahead of the recording: everything recorded after the snapshot is played at the next
    // start.
    recording?.whenSynced(post)
    recording?.handOver()
  }

  /// Calls `completion` once everything that has happened to the room is saved, or cannot be; at
  /// once if the room is not kept.
  func whenSaved(_ completion: @escaping SnapshotSchedule.Completion) {
    if keeper == nil { completion(true) } else { keeper?.whenSaved(completion) }
  }

  /// Saves the room now, whatever is in progress, and calls `completion` once that is done.
  func save(now: NIODeadline, completion: @escaping @Sendable () -> Void) {
    applyHeld(now)
    whenSaved { _ in completion() }
    save(now: now)
  }

  /// Ends the room because the daemon is stopping, but keeps it for the next start. Monitors end
  /// with their connections, because the room is not closed.
  func suspend(now: NIODeadline) {
    finish()
    save(now: now)
  }

  /// Removes what is saved of the room because it is closed for good, and then calls `completion`.
  func forget(_ completion: @escaping @Sendable () -> Void) {
    guard let keeper else { return completion() }
    keeper.store.remove(keeper.room) { _ in completion() }
    for waiting in self.keeper?.cancel() ?? [] { waiting(false) }
  }

  // MARK: The next start

  /// Takes the steps recorded after the snapshot from which the room was restored.
  func catchUp(_ steps: [RecordedStep]) {
    replayOffset = 0
    play(steps)
    replayOffset = nil
    screen.apply(settings.throttling)
  }

  /// Advances the time by what has passed since a snapshot.
  func wake(after snapshot: RoomSnapshot, now: NIODeadline) {
    isDriven = true
    let away = max(0, WallClock.milliseconds() - snapshot.savedAt)
    clock.advance(
      to: snapshot.instant + .milliseconds(Int64(clamping: away)))
    clock.resume(machine: now.machineTime)
  }
}
