package import RateLimiting

/// How far the partitions of this node are on the way from a lease to rooms that the daemon has.
///
/// A partition waits until the daemon and the NATS servers are reached. It is then loaded: the node
/// asks the daemon for its positions and the store for snapshots. After that its log is read, and
/// it has caught up once the daemon has everything that was in the log when reading began. Loading
/// and the closing of rooms before a restart are tasks that may outlive the lease, so a partition
/// has at most one of each at a time. A value.
package struct Takeovers {
  private var waiting: Set<Partition> = []
  private var loading: Set<Partition> = []
  private var catchingUp: Set<Partition> = []
  /// Partitions whose rooms are being closed so that they can be loaded once more.
  private var restarting: Set<Partition> = []
  /// When each partition was restarted last.
  private var restarted: [Partition: Instant] = [:]
  /// Why each partition could not be loaded, and how many times in a row.
  private var failures: [Partition: (reason: String, count: Int)] = [:]

  package init() {}

  /// The node has the lease of a partition.
  package mutating func begin(_ partition: Partition) { waiting.insert(partition) }

  /// The node has lost the lease of a partition.
  package mutating func end(_ partition: Partition) {
    waiting.remove(partition)
    catchingUp.remove(partition)
    failures[partition] = nil
  }

  /// The daemon is gone or has come back, possibly with less than it had: every partition is loaded
  /// once more.
  package mutating func beginAnew(_ partitions: Set<Partition>) {
    (waiting, catchingUp, failures) = (partitions, [], [:])
  }

  /// Returns the partitions to load now, each with the epoch of its lease. ``endLoading(_:)``
  /// follows for each.
  ///
  /// - Parameter epoch: the epoch of a partition's lease; `nil` if the partition cannot be loaded
  ///   now.
  package mutating func beginLoading(_ epoch: (Partition) -> UInt64?) -> [(
    Partition, epoch: UInt64
  )] {
    let next = waiting.subtracting(loading).subtracting(restarting)
      .compactMap { partition in epoch(partition).map { (partition, epoch: $0) } }
    loading.formUnion(next.map(\.0))
    return next
  }

  /// The attempt to load a partition is over. Returns whether the partition still waits for its
  /// outcome.
  package mutating func endLoading(_ partition: Partition) -> Bool {
    precondition(loading.remove(partition) != nil, "partition \(partition) was not being loaded")
    return waiting.contains(partition)
  }

  /// A partition could not be loaded; it waits for the next attempt.
  package mutating func fail(_ partition: Partition, _ reason: String) {
    failures[partition] = (reason, (failures[partition]?.count ?? 0) + 1)
  }

  /// A partition is loaded, and its log is read from now on.
  package mutating func beginReading(_ partition: Partition) {
    precondition(waiting.remove(partition) != nil, "partition \(partition) did not wait")
    failures[partition] = nil
    catchingUp.insert(partition)
  }

  /// Returns the partitions that have just caught up.
  package mutating func catchUp(_ hasCaughtUp: (Partition) -> Bool) -> Set<Partition> {
    let current = catchingUp.filter(hasCaughtUp)
    catchingUp.subtract(current)
    return current
  }

  /// Stops the reading of a partition so that its rooms can be closed and loaded once more. Returns
  /// whether that is to be done now; ``endRestart(_:isHeld:)`` then follows.
  ///
  /// - Parameter interval: the shortest time between two restarts of a partition.
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

  /// The rooms of a partition that restarts are closed.
  ///
  /// - Parameter isHeld: whether the node has had the lease all the time.
  package mutating func endRestart(_ partition: Partition, isHeld: Bool) {
    precondition(restarting.remove(partition) != nil, "partition \(partition) did not restart")
    if isHeld { waiting.insert(partition) }
  }

  /// One or two failures in a row are no problem: a server or the daemon may be starting.
  package var problems: [Problem] {
    failures.sorted { $0.key < $1.key }.filter { $0.value.count >= 4 }.map { partition, failure in
      Problem(
        "partition \(partition)",
        "the rooms of partition \(partition) cannot be loaded, and are not fed: \(failure.reason)")
    }
  }
}
