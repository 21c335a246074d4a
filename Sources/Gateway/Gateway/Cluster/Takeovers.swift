package import RateLimiting

/// For each partition of this node, the progress from acquiring its lease until the daemon has all
/// its rooms.
///
/// A partition waits until the daemon and the NATS servers can be reached. Loading it then requests
/// the daemon's positions and the snapshots in the store. Afterwards the partition's log is read. A
/// partition has caught up once the daemon has everything that was in the log when reading began.
/// Two tasks may still run after the lease is lost: loading, and closing rooms before they are
/// loaded again. Each partition has at most one of each task at a time.
package struct Takeovers {
  private var waiting: Set<Partition> = []
  private var loading: Set<Partition> = []
  private var catchingUp: Set<Partition> = []
  /// Partitions whose rooms are being closed so that they can be loaded again.
  private var restarting: Set<Partition> = []
  private var restarted: [Partition: Instant] = [:]
  /// For each partition, why it could not be loaded, and the number of consecutive failures.
  private var failures: [Partition: (reason: String, count: Int)] = [:]

  package init() {}

  /// Records that the node has acquired the lease of a partition.
  package mutating func begin(_ partition: Partition) { waiting.insert(partition) }

  /// Records that the node has lost the lease of a partition.
  package mutating func end(_ partition: Partition) {
    waiting.remove(partition)
    catchingUp.remove(partition)
    failures[partition] = nil
  }

  /// Makes all partitions load again. Must be called when the daemon disappears or returns, because
  /// rooms may be missing then.
  package mutating func beginAnew(_ partitions: Set<Partition>) {
    (waiting, catchingUp, failures) = (partitions, [], [:])
  }

  /// Returns the partitions to load now, and the epochs of their leases. Call ``endLoading(_:)``
  /// for each. `epoch` returns `nil` for a partition that cannot be loaded now.
  package mutating func beginLoading(_ epoch: (Partition) -> UInt64?) -> [(
    Partition, epoch: UInt64
  )] {
    let next = waiting.subtracting(loading).subtracting(restarting)
      .compactMap { partition in epoch(partition).map { (partition, epoch: $0) } }
    loading.formUnion(next.map(\.0))
    return next
  }

  /// Records that the attempt to load a partition is over. Returns whether the result of this
  /// attempt is still needed.
  package mutating func endLoading(_ partition: Partition) -> Bool {
    precondition(loading.remove(partition) != nil, "partition \(partition) was not being loaded")
    return waiting.contains(partition)
  }

  /// Records that a partition could not be loaded; it waits for the next attempt.
  package mutating func fail(_ partition: Partition, _ reason: String) {
    failures[partition] = (reason, (failures[partition]?.count ?? 0) + 1)
  }

  /// Records that a partition is loaded and that its log is being read.
  package mutating func beginReading(_ partition: Partition) {
    precondition(waiting.remove(partition) != nil, "partition \(partition) was not waiting")
    failures[partition] = nil
    catchingUp.insert(partition)
  }

  /// Returns the partitions that have just caught up.
  package mutating func catchUp(_ hasCaughtUp: (Partition) -> Bool) -> Set<Partition> {
    let current = catchingUp.filter(hasCaughtUp)
    catchingUp.subtract(current)
    return current
  }

  /// Begins to restart a partition, at most once per `interval`. Returns whether the caller must
  /// now stop reading the partition and close its rooms, and then call ``endRestart(_:isHeld:)``.
  package mutating func restart(_ partition: Partition, at now: Instant, every interval: Interval)
    -> Bool
  {
    guard !restarting.contains(partition), now - (restarted[partition] ?? .origin) >= interval
    else { return false }
    restarted[partition] = now
    restarting.insert(partition)
    catchingUp.remove(partition)
    return true
  }

  /// Records that the rooms of a restarting partition are closed. `isHeld` is true if the node has
  /// held the lease without interruption.
  package mutating func endRestart(_ partition: Partition, isHeld: Bool) {
    precondition(restarting.remove(partition) != nil, "partition \(partition) was not restarting")
    if isHeld { waiting.insert(partition) }
  }

  /// The current problems. One or two consecutive failures are normal, because a server or the
  /// daemon may be starting.
  package var problems: [Problem] {
    failures.sorted { $0.key < $1.key }.filter { $0.value.count >= 4 }.map { partition, failure in
      Problem(
        "partition \(partition)",
        "the rooms of partition \(partition) cannot be loaded, and receive no events: \(failure.reason)"
      )
    }
  }
}
