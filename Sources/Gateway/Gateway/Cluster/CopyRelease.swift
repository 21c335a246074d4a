package import RateLimiting

/// Decides when to close copies of rooms in the local daemon. A room is only a copy if another node
/// leads its partition.
///
/// A copy receives no events, yet it counts towards the daemon's maximum number of rooms. The copy
/// is kept until the other node has led the partition for twice the snapshot interval. By then,
/// that node has stored a snapshot.
package struct CopyRelease {
  private let interval: Interval
  /// For each partition whose rooms another node has loaded, the time at which this was first
  /// observed.
  private var elsewhere: [Partition: Instant] = [:]
  private var closing: Set<Partition>?
  private var next = Instant.origin

  /// - Parameter interval: how often a snapshot of a room is stored.
  package init(interval: Interval) { self.interval = interval }

  /// Records which partitions are now led and loaded by other nodes.
  package mutating func update(at now: Instant, isElsewhere: (Partition) -> Bool) {
    for partition in Partition.all {
      elsewhere[partition] = isElsewhere(partition) ? elsewhere[partition] ?? now : nil
    }
  }

  /// Returns the partitions whose copies must be closed now. If there are any, call ``end()``
  /// afterwards.
  package mutating func begin(at now: Instant) -> Set<Partition> {
    guard closing == nil, now >= next else { return [] }
    next = now + interval
    let patience = Interval(nanoseconds: 2 * interval.nanoseconds)
    let partitions = Set(elsewhere.filter { now - $0.value >= patience }.keys)
    if !partitions.isEmpty { closing = partitions }
    return partitions
  }

  /// Whether copies of a partition are being closed, so that the node must not load it.
  package func isClosing(_ partition: Partition) -> Bool { closing?.contains(partition) ?? false }

  /// Returns whether a copy may still be closed. Once this returns false, no more copies of the
  /// partition are closed, so that this node can load the partition.
  package mutating func mayClose(_ partition: Partition) -> Bool {
    guard isClosing(partition) else { return false }
    if elsewhere[partition] != nil { return true }
    closing?.remove(partition)
    return false
  }

  /// Records that the copies are closed.
  package mutating func end() {
    precondition(closing != nil, "no copies were being closed")
    closing = nil
  }
}
