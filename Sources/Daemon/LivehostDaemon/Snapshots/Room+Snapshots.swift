import Composable
import HostScreen
import LiveEvents
import NIOCore
import Platform
import RateLimiting
import Recordings

extension Room {
  /// For how long a room that records waits for a moment in which its throttles hold nothing, in
  /// intervals of ``RoomKeeper``; then what they hold is applied early.
  ///
  /// What is held is not in a snapshot, but before it in the recording: it would be in neither.
  private static let patience: Int64 = 3

  private var mark: RoomKeeper.Mark {
    RoomKeeper.Mark(actions: screen.store.actionCount, events: screen.counts.received)
  }

  /// Whether something is recorded and held.
  private var isHolding: Bool { recording != nil && screen.counts.pending > 0 }

  /// When the room is to be saved; `nil` if there is nothing to save, or not now.
  var nextSave: NIODeadline? {
    guard let due = keeper?.due(mark), replayOffset == nil || recording == nil else { return nil }
    return isHolding ? due + RoomKeeper.interval * Self.patience : due
  }

  /// Saves the room if it is time.
  func saveIfDue(now: NIODeadline) {
    guard let due = nextSave, due <= now else { return }
    applyHeld(now)
    save(now: now)
  }

  /// Applies what throttles hold, before a snapshot that would lack it.
  private func applyHeld(_ now: NIODeadline) {
    guard isHolding, replayOffset == nil else { return }
    drawFrame(at: max(clock.now, clock.time(machine: now.machineTime)), flush: true)
  }

  /// Saves the room as it is.
  func save(now: NIODeadline) {
    guard let keeper, let waiting = self.keeper?.begin(mark, now: now) else { return }
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
    // Never ahead of the recording: what comes after it there is played at the next start.
    recording?.whenSynced(post)
    recording?.handOver()
  }

  /// Calls `completion` once all that happened to the room so far is saved, or cannot be; at once if the
  /// room is not kept.
  func whenKept(_ completion: @escaping RoomKeeper.Completion) {
    if keeper == nil { completion(true) } else { keeper?.whenSaved(completion) }
  }

  /// Saves the room now, whatever is under way; `completion` is told once that is done.
  func save(now: NIODeadline, completion: @escaping @Sendable () -> Void) {
    applyHeld(now)
    whenKept { _ in completion() }
    save(now: now)
  }

  /// The daemon stops: the room ends, but is kept for the next start. Monitors end with their connections:
  /// the room is not closed.
  func suspend(now: NIODeadline) {
    finish()
    save(now: now)
  }

  /// The room is closed for good; `completion` is told once nothing of it is kept.
  func forget(_ completion: @escaping @Sendable () -> Void) {
    guard let keeper else { return completion() }
    keeper.store.remove(keeper.room) { _ in completion() }
    for waiting in self.keeper?.giveUp() ?? [] { waiting(false) }
  }

  // MARK: The next start

  /// Takes the steps that were recorded after the snapshot that the room was made of.
  func catchUp(_ steps: [RecordedStep]) {
    replayOffset = 0
    play(steps)
    replayOffset = nil
    screen.apply(settings.throttling)
  }

  /// Time went on while nobody was there to see it.
  func wake(after snapshot: RoomSnapshot, now: NIODeadline) {
    isDriven = true
    let away = max(0, WallClock.milliseconds() - snapshot.savedAt)
    clock.advance(
      to: snapshot.instant + .milliseconds(Int64(clamping: away)))
    clock.resume(machine: now.machineTime)
  }
}
