import LiveEvents

/// The stored snapshots of the rooms in this node's partitions.
struct StoredSnapshots {
  /// The rooms' snapshots; a partition is absent until its content in the store is known.
  private var rooms: [Partition: [RoomName: SnapshotTransfer.NewestSnapshot]] = [:]
  /// Whether a snapshot is being stored. Only one snapshot is stored at a time, so that snapshots
  /// do not delay the log. This is sufficient, because most snapshots hardly shorten the log that a
  /// takeover reads.
  private(set) var isStoring = false

  /// Records the snapshots of a partition that has been loaded.
  mutating func begin(_ partition: Partition, _ known: [RoomName: SnapshotTransfer.NewestSnapshot])
  {
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

  /// Returns the sequence of the room's stored header, which its next header replaces; 0 if no
  /// header is stored.
  func sequence(of room: RoomName) -> UInt64 {
    rooms[Partition(of: room)]?[room]?.sequence ?? 0
  }

  /// Records that the header of a room in the store is not the one that was known. The room's next
  /// header replaces it. `header` is `nil` if it cannot be read or belongs to another log.
  mutating func find(_ header: SnapshotHeader?, sequence: UInt64, of room: RoomName) {
    let partition = Partition(of: room)
    // The known snapshot is read first, because the assignment has exclusive access to the entry.
    let known = rooms[partition]?[room]?.newest
    rooms[partition]?[room] = .init(newest: header ?? known, sequence: sequence)
  }

  /// Records a stored header. Returns the room's previous entry in the store; `nil` if it is not
  /// known.
  mutating func replace(
    with header: SnapshotHeader, sequence: UInt64, of room: RoomName
  ) -> SnapshotTransfer.NewestSnapshot? {
    guard rooms[Partition(of: room)] != nil else { return nil }
    let before = rooms[Partition(of: room)]?[room] ?? .init(newest: nil, sequence: 0)
    rooms[Partition(of: room)]?[room] = .init(newest: header, sequence: sequence)
    return before
  }
}
