import NIOCore

/// When a room is saved, and who waits for that.
///
/// A room is saved when somebody waits for it, and otherwise some time after it changed. One snapshot is
/// under way at a time: who comes meanwhile waits for the next.
struct RoomKeeper {
  /// For how long a change may be unsaved while nobody waits for it.
  static let interval = TimeAmount.seconds(1)

  let store: SnapshotStore
  let room: KeptRoom
  /// Called once a snapshot is written, or cannot be, on another thread.
  let onEnd: @Sendable () -> Void
  /// Told whether the room was saved; `false` if it cannot be, or was closed.
  typealias Completion = SnapshotStore.Completion

  /// Those who wait until what they sent is saved.
  private var waiting: [Completion] = []
  /// What the room had done when it was saved last.
  private var savedMark: Mark?
  private var savedAt: NIODeadline
  private var isSaving = false

  /// Two marks of one room differ if something happened to it in between.
  struct Mark: Equatable {
    let actions: UInt64
    let events: Int
  }

  init(
    _ store: SnapshotStore, room: String, now: NIODeadline, onEnd: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.room = KeptRoom(room)
    self.onEnd = onEnd
    savedAt = now
  }

  mutating func whenSaved(_ completion: @escaping Completion) {
    waiting.append(completion)
  }

  /// When a snapshot is due; `nil` if there is nothing to save, or one is under way.
  func due(_ mark: Mark) -> NIODeadline? {
    if isSaving { return nil }
    // That a room exists is worth a snapshot at once.
    if !waiting.isEmpty || savedMark == nil { return savedAt }
    return mark == savedMark ? nil : savedAt + Self.interval
  }

  /// A snapshot begins; gives those who wait for it.
  mutating func begin(_ mark: Mark, now: NIODeadline) -> [Completion] {
    savedMark = mark
    savedAt = now
    isSaving = true
    return exchange(&waiting, with: [])
  }

  mutating func end() { isSaving = false }

  /// Nothing will be saved any more; gives those who wait.
  mutating func giveUp() -> [Completion] { exchange(&waiting, with: []) }
}
