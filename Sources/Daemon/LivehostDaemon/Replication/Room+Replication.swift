import HostScreen
import LiveEvents
import NIOCore
import Platform
import WireFormats

extension Room {
  /// The room as another daemon can continue it, without what ties it to the disk of this one; `nil` while a recording
  /// is played, or while it is being restored.
  func copy(now: NIODeadline = .now()) -> RoomSnapshot? {
    guard replayOffset == nil, !isRestoring else { return nil }
    applyHeld(now)
    log?.handOver()
    return RoomSnapshot(
      room: name.description, savedAt: WallClock.milliseconds(),
      instant: clock.time(machine: now.machineTime), screen: screen.snapshot, sequence: nil,
      known: known)
  }

  /// Continues a room that was opened with a copy from another daemon: its first snapshot here is all that is kept.
  func continueCopy(_ snapshot: RoomSnapshot, now: NIODeadline = .now()) {
    wake(after: snapshot.moment, at: 0, isLost: true, now: now)
    endRestoration()
  }

  /// Notes that an act is a batch of a source. `false` if the room has that batch.
  func take(_ position: BatchPosition) -> Bool {
    guard !known.holds(position) else { return false }
    let recorded = RecordedBatchPosition(
      source: position.source, sequence: position.sequence, events: 0)
    known.note(recorded)
    log?.addChange(RoomChange(position: recorded), at: clock.now)
    return true
  }
}
