import NIOCore
import Recordings

/// Decides when a room is saved, and holds the completions that wait for that.
///
/// What happens in a room is logged, so it is saved rarely: when much was logged, or when the log is to be cut.
/// Completions added while a snapshot is in progress wait for the next.
struct SnapshotSchedule {
  /// How long after a failure it is tried again while nothing waits for it.
  static let interval = TimeAmount.seconds(1)

  let store: SnapshotStore
  let library: RecordingLibrary
  let room: RoomLifetime
  /// Runs something with the room on its lane; with `nil` if it has been closed.
  let visit: @Sendable (@escaping @Sendable (Room?) -> Void) -> Void
  /// Called with whether the room was saved; `false` if it cannot be, or was closed.
  typealias Completion = SnapshotStore.Completion

  /// Whether what happens in the room is kept only by the next snapshot, because the log does not lead to it.
  private(set) var isRequired = false
  /// The completions of senders that wait until their events are saved.
  private var waiting: [Completion] = []
  /// When a snapshot is due if nothing waits for it; `nil` if it is not.
  private var dueAt: NIODeadline?
  /// How many snapshots are in progress: more than one only if they had to be taken at once.
  private var saving = 0
  /// Whether the snapshot in progress is of the time after the last ``require(at:)``.
  private var isEnough = false

  /// - Parameter room: of a room that was packed, its own; otherwise, a new one.
  init(
    _ store: SnapshotStore, _ library: RecordingLibrary, room: RoomLifetime,
    visit: @escaping @Sendable (@escaping @Sendable (Room?) -> Void) -> Void
  ) {
    self.store = store
    self.library = library
    self.room = room
    // Another room may have the name by then.
    self.visit = { body in visit { found in body(found?.keeper?.room === room ? found : nil) } }
  }

  mutating func whenSaved(_ completion: @escaping Completion) { waiting.append(completion) }

  /// Whether no snapshot is due or in progress.
  var isIdle: Bool { saving == 0 && dueAt == nil && waiting.isEmpty && !isRequired }

  var hasWaiting: Bool { !waiting.isEmpty }

  /// When a snapshot is due; `nil` if none is, or one is in progress.
  var due: NIODeadline? { saving > 0 ? nil : hasWaiting ? .uptimeNanoseconds(0) : dueAt }

  /// Asks for a snapshot.
  mutating func request(at time: NIODeadline) { dueAt = min(dueAt ?? time, time) }

  /// Asks for a snapshot, without which nothing more is kept.
  mutating func require(at time: NIODeadline) {
    (isRequired, isEnough) = (true, false)
    request(at: time)
  }

  /// Begins a snapshot. Returns the completions that wait for it.
  mutating func begin() -> [Completion] {
    (dueAt, isEnough) = (nil, true)
    saving += 1
    return exchange(&waiting, with: [])
  }

  mutating func end(isWritten: Bool, now: NIODeadline) {
    saving -= 1
    if isWritten, isEnough, saving == 0 { isRequired = false }
    if !isWritten { request(at: now + Self.interval) }
  }

  /// Stops saving. Returns the completions that are waiting.
  mutating func cancel() -> [Completion] { exchange(&waiting, with: []) }
}
