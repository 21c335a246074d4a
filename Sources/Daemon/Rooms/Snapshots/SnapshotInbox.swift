import Synchronization
import SystemSupport

/// The requests to a ``SnapshotStore``, at most one per room, and the state of the rooms' files.
struct SnapshotInbox: Sendable {
  typealias Completion = SnapshotStore.Completion
  typealias Notice = SnapshotStore.Notice
  typealias Group = [(room: String, request: Request)]

  /// What to do with a room's file.
  struct Request: Sendable {
    /// The snapshot to write; `nil` to remove the file.
    var snapshot: RoomSnapshot?
    var completions: [Completion] = []
    /// Called after the file of a closed room is removed.
    var whenGone: [Notice] = []
  }

  /// The lifetime of a room to which the room's file belongs.
  private struct Life: Sendable {
    let number: UInt64
    /// The number of the newest snapshot. Older snapshots may be posted after it, because each
    /// waits until the log before it is synced.
    let newest: UInt64
    /// Whether the newest snapshot is written; `nil` while that is not known.
    var isWritten: Bool?
    /// The completions of older snapshots that were posted while the newest was being written.
    var overtaken: [Completion] = []
  }

  /// The maximum number of requests that share one sync of the directory.
  private static let groupSize = 32

  private var requests: [String: Request] = [:]
  /// The rooms in the order of their requests.
  private var rooms: [String] = []
  /// The newest known lifetime of each room.
  private var lives: [String: Life] = [:]
  /// The rooms whose files could not be removed, with the notices that wait for the removal.
  private var unremoved: [String: [Notice]] = [:]
  private var isClosed = false
  private var whenDone: [CheckedContinuation<Void, Never>] = []
  private var isDone = false
  private var pings: [@Sendable () -> Void] = []

  /// The number of rooms that wait.
  var count: Int { rooms.count }

  /// Adds a removal. Returns whether the removal will be tried. If it will not, `isGone` is whether
  /// the file belongs to a newer lifetime already.
  mutating func addRemoval(
    of room: RoomLifetime, _ completion: @escaping Completion, _ whenGone: @escaping Notice
  ) -> (isTaken: Bool, isGone: Bool) {
    let name = room.name
    guard !isClosed else { return (false, false) }
    if room.number >= lives[name]?.number ?? 0 {
      add(nil, name, completion)
      requests[name]?.whenGone.append(whenGone)
      lives[name] = nil
      return (true, false)
    }
    if requests[name] != nil {
      requests[name]?.whenGone.append(whenGone)
    } else if lives[name]?.isWritten == true {
      return (false, true)
    } else {
      unremoved[name, default: []].append(whenGone)
    }
    return (false, false)
  }

  /// Adds a snapshot. Returns `false` if the snapshot is refused. If a newer snapshot of the room
  /// was written or failed already, returns whether it was written; otherwise returns `nil`.
  mutating func add(
    _ snapshot: RoomSnapshot, _ number: UInt64, of room: RoomLifetime,
    _ completion: @escaping Completion
  ) -> Bool? {
    let known = lives[room.name]?.number ?? 0
    guard !isClosed, !room.isGone.load(ordering: .relaxed), room.number >= known else {
      return false
    }
    let newest = room.number == known ? lives[room.name]?.newest ?? 0 : 0
    if number > newest {
      add(snapshot, room.name, completion)
      lives[room.name] = Life(number: room.number, newest: number)
    } else if requests[room.name] != nil {
      requests[room.name]?.completions.append(completion)
    } else if let isWritten = lives[room.name]?.isWritten {
      return isWritten
    } else {
      lives[room.name]?.overtaken.append(completion)
    }
    return nil
  }

  /// Adds a request. It replaces an older request of the room, whose completions it also calls.
  private mutating func add(
    _ snapshot: RoomSnapshot?, _ room: String, _ completion: @escaping Completion
  ) {
    if requests[room] == nil { rooms.append(room) }
    let others = (requests[room]?.completions ?? []) + (lives[room]?.overtaken ?? [])
    lives[room]?.overtaken = []
    requests[room] = Request(
      snapshot: snapshot, completions: others + [completion],
      whenGone: requests[room]?.whenGone ?? [])
  }

  // MARK: The thread

  /// Removes and returns the oldest requests, or an empty group if there are none; `nil` once the
  /// inbox is closed and empty.
  mutating func takeGroup() -> Group? {
    Invariants.check(
      rooms.count == requests.count && rooms.allSatisfy { requests[$0] != nil },
      "each waiting room has one request")
    if rooms.isEmpty, isClosed {
      isDone = true
      return nil
    }
    let group = rooms.prefix(Self.groupSize).compactMap { room in
      requests.removeValue(forKey: room).map { (room, $0) }
    }
    rooms.removeFirst(min(rooms.count, Self.groupSize))
    return group.isEmpty ? [] : takeUnremoved() + group
  }

  /// Returns some of the removals that have failed, to be tried again. Rooms that are open again
  /// are skipped, because their next snapshot replaces the file.
  private mutating func takeUnremoved() -> Group {
    let rooms = unremoved.keys.filter { requests[$0] == nil && lives[$0] == nil }.sorted()
    return rooms.prefix(Self.groupSize).map { room in
      (room, Request(whenGone: unremoved.removeValue(forKey: room) ?? []))
    }
  }

  /// Records whether a room's request was carried out. Returns the completions of older snapshots
  /// that were posted meanwhile, and the notices that wait until the file of a closed room is gone.
  mutating func end(
    _ room: String, _ request: Request, isWritten: Bool
  ) -> (overtaken: [Completion], gone: [Notice]) {
    (endSnapshot(of: room, isWritten: isWritten), endRemovals(of: room, request, isWritten))
  }

  private mutating func endSnapshot(of room: String, isWritten: Bool) -> [Completion] {
    guard requests[room] == nil, var life = lives.removeValue(forKey: room) else { return [] }
    defer { lives[room] = life }
    life.isWritten = isWritten
    return exchange(&life.overtaken, with: [])
  }

  private mutating func endRemovals(
    of room: String, _ request: Request, _ isWritten: Bool
  ) -> [Notice] {
    let waiting = (unremoved.removeValue(forKey: room) ?? []) + request.whenGone
    if isWritten { return waiting }
    // The file has to be removed even if no notice waits for that.
    if request.snapshot == nil || !waiting.isEmpty { unremoved[room] = waiting }
    return []
  }

  // MARK: Pings and the end

  /// Adds a ping. Returns `false` if the thread has ended.
  mutating func add(ping: @escaping @Sendable () -> Void) -> Bool {
    if !isDone { pings.append(ping) }
    return !isDone
  }

  mutating func takePings() -> [@Sendable () -> Void] { exchange(&pings, with: []) }

  /// Refuses later requests. Returns whether the thread has ended; if not, `continuation` waits for
  /// that.
  mutating func close(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    isClosed = true
    if !isDone { whenDone.append(continuation) }
    return isDone
  }

  /// Removes the continuations that wait for the end of the thread.
  mutating func takeEnded() -> [CheckedContinuation<Void, Never>] { exchange(&whenDone, with: []) }
}
