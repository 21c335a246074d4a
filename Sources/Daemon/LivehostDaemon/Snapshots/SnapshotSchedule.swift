import NIOCore

/// Decides when a room is saved, and holds the completions that wait for that.
///
/// A room is saved when a completion waits for it, and otherwise some time after it has changed.
/// Only one snapshot is in progress at a time; completions added meanwhile wait for the next.
struct SnapshotSchedule {
  /// How long a change may remain unsaved while nothing waits for it.
  static let interval = TimeAmount.seconds(1)

  let store: SnapshotStore
  let room: RoomLifetime
  /// Called on another thread once a snapshot is written or has failed.
  let onEnd: @Sendable () -> Void
  /// Called with whether the room was saved; `false` if it cannot be, or was closed.
  typealias Completion = SnapshotStore.Completion

  /// The completions of senders that wait until their events are saved.
  private var waiting: [Completion] = []
  /// What the room had done when it was last saved.
  private var savedRevision: Revision?
  private var savedAt: NIODeadline
  private var isSaving = false

  /// Two marks of one room differ if something happened to it in between.
  struct Revision: Equatable {
    let actions: UInt64
    let events: Int
  }

  init(
    _ store: SnapshotStore, room: String, now: NIODeadline, onEnd: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.room = RoomLifetime(room)
    self.onEnd = onEnd
    savedAt = now
  }

  mutating func whenSaved(_ completion: @escaping Completion) {
    waiting.append(completion)
  }

  /// When a snapshot is due; `nil` if there is nothing to save, or a snapshot is in progress.
  func due(_ revision: Revision) -> NIODeadline? {
    if isSaving { return nil }
    // The existence of a room is saved at once.
    if !waiting.isEmpty || savedRevision == nil { return savedAt }
    return revision == savedRevision ? nil : savedAt + Self.interval
  }

  /// Begins a snapshot. Returns the completions that wait for it.
  mutating func begin(_ revision: Revision, now: NIODeadline) -> [Completion] {
    savedRevision = revision
    savedAt = now
    isSaving = true
    return exchange(&waiting, with: [])
  }

  mutating func end() { isSaving = false }

  /// Stops saving. Returns the completions that are waiting.
  mutating func cancel() -> [Completion] { exchange(&waiting, with: []) }
}
