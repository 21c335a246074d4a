import LiveEvents

/// The snapshots that the store has of the rooms of this node's partitions. A value.
struct StoredSnapshots {
  /// A partition is absent while it is not known what the store has of its rooms.
  private var rooms: [Partition: [RoomName: SnapshotTransfer.Stored]] = [:]
  /// Whether a snapshot is being stored. There is one at a time: most of them make no difference to
  /// the log that a takeover reads, and the log must not wait.
  private(set) var isStoring = false

  /// A partition is loaded.
  mutating func begin(_ partition: Partition, _ known: [RoomName: SnapshotTransfer.Stored]) {
    rooms[partition] = known
  }

  mutating func end(_ partition: Partition) { rooms[partition] = nil }

  mutating func endAll() { rooms = [:] }

  mutating func beginStoring() {
    precondition(!isStoring, "two snapshots are stored at the same time")
    isStoring = true
  }

  mutating func endStoring() {
    precondition(isStoring, "no snapshot was being stored")
    isStoring = false
  }

  /// The sequence of the header that the next one of a room replaces; 0 if there is none.
  func sequence(of room: RoomName) -> UInt64 {
    rooms[Partition(of: room)]?[room]?.sequence ?? 0
  }

  /// The store has another header of a room than was known; the next header replaces it.
  ///
  /// - Parameter header: `nil` if the header cannot be read or belongs to another log.
  mutating func find(_ header: SnapshotHeader?, sequence: UInt64, of room: RoomName) {
    let partition = Partition(of: room)
    // Read before the assignment, which has exclusive access to the entry.
    let known = rooms[partition]?[room]?.newest
    rooms[partition]?[room] = .init(newest: header ?? known, sequence: sequence)
  }

  /// A header is stored. Returns what the store had of the room before; `nil` if that is not known.
  mutating func replace(
    with header: SnapshotHeader, sequence: UInt64, of room: RoomName
  ) -> SnapshotTransfer.Stored? {
    guard rooms[Partition(of: room)] != nil else { return nil }
    let before = rooms[Partition(of: room)]?[room] ?? .init(newest: nil, sequence: 0)
    rooms[Partition(of: room)]?[room] = .init(newest: header, sequence: sequence)
    return before
  }
}
