import NIOCore
import Recordings

/// Decides when a room is saved, and holds the completions that wait for the snapshot.
///
/// The log contains every step of a room, so snapshots are rare: after many steps, or before the
/// log is cut. Completions that are added while a snapshot is in progress wait for the next one.
struct SnapshotSchedule {
  /// Receives whether the room was saved; `false` if saving failed or the room was closed.
  typealias Completion = SnapshotStore.Completion

  /// The time from a failure to the next attempt, unless a completion is waiting.
  private static let interval = TimeAmount.seconds(1)
  /// The maximum time that a snapshot waits for the throttles to apply the events that they hold.
  /// After that, held events are applied early.
  ///
  /// A snapshot does not contain held events, but they precede it in the log, so the next start
  /// would restore them from neither.
  private static let patience = interval * 3

  let store: SnapshotStore
  let library: RecordingLibrary

  /// Whether the log cannot restore the latest steps of the room, so that only the next snapshot
  /// makes them survive a restart.
  private(set) var isRequired = false
  /// The completions of senders that wait until their events are saved.
  private var waiting: [Completion] = []
  /// When a snapshot is due if no completion is waiting; `nil` if none is due.
  private var dueAt: NIODeadline?
  /// The number of snapshots in progress. It exceeds one only if a snapshot could not wait for the
  /// previous one.
  private var saving = 0
  /// Whether the snapshot in progress was begun after the last ``require(at:)``.
  private var isEnough = false

  init(_ store: SnapshotStore, _ library: RecordingLibrary) {
    (self.store, self.library) = (store, library)
  }

  mutating func whenSaved(_ completion: @escaping Completion) { waiting.append(completion) }

  /// Whether no snapshot is due or in progress.
  var isIdle: Bool { saving == 0 && dueAt == nil && waiting.isEmpty && !isRequired }

  var hasWaiting: Bool { !waiting.isEmpty }

  /// Returns when the room must be saved; `nil` if there is nothing to save, or the room cannot be
  /// saved now.
  ///
  /// - Parameter holdsEvents: whether the throttles hold events.
  func due(holdsEvents: Bool, isReplaying: Bool) -> NIODeadline? {
    if saving > 0 { return nil }
    if hasWaiting { return .uptimeNanoseconds(0) }
    guard let dueAt, !isRequired else { return dueAt }
    return isReplaying ? nil : holdsEvents ? dueAt + Self.patience : dueAt
  }

  mutating func request(at time: NIODeadline) { dueAt = min(dueAt ?? time, time) }

  /// Requests a snapshot without which no later step survives a restart.
  mutating func require(at time: NIODeadline) {
    (isRequired, isEnough) = (true, false)
    request(at: time)
  }

  /// Requests a snapshot without which no later step survives a restart. The snapshot is due later,
  /// so that the log has time to recover.
  mutating func requireAfterFailure(now: NIODeadline) { require(at: now + Self.interval * 10) }

  /// Begins to save a snapshot. Returns a closure to call once the log up to the snapshot is on
  /// disk.
  ///
  /// A snapshot must never be ahead of the log, because the next start replays everything in the
  /// log after the snapshot.
  ///
  /// - Parameter sufficient: the log, if replaying it suffices to restore the room. The snapshot is
  ///   then written only if few others wait, or if the log fails.
  mutating func save(
    _ snapshot: RoomSnapshot, of life: RoomLifetime, unless sufficient: LogWriter?
  ) -> @Sendable () -> Void {
    let waiting = exchange(&waiting, with: [])
    (dueAt, isEnough) = (nil, true)
    saving += 1
    let number = life.nextSnapshot()
    if sufficient == nil { library.noteSaving(life.name) }
    return { [store, library] in
      if let sufficient {
        if sufficient.failure == nil, store.isBusy { return }
        library.noteSaving(life.name)
      }
      store.post(snapshot, number, of: life) { isWritten in
        library.noteSaved(life.name, isWritten: isWritten)
        for waiting in waiting { waiting(isWritten) }
        life.postVisit { $0?.snapshots?.end(isWritten: isWritten, now: .now()) }
      }
    }
  }

  /// Records that the snapshot in progress was written or failed.
  mutating func end(isWritten: Bool, now: NIODeadline) {
    precondition(saving > 0, "each snapshot ends once")
    saving -= 1
    if isWritten, isEnough, saving == 0 { isRequired = false }
    if !isWritten { request(at: now + Self.interval) }
  }

  /// Stops saving. Returns the completions that are waiting.
  mutating func cancel() -> [Completion] { exchange(&waiting, with: []) }
}
