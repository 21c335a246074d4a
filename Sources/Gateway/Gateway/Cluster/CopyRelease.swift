package import RateLimiting

/// Which of the local daemon's rooms are copies that are to be closed, because another node leads
/// their partition.
///
/// Nobody feeds such a copy, yet it counts among the daemon's rooms. It is kept until the other
/// node has had the partition for twice the interval of snapshots, and so has stored its own. A
/// value.
package struct CopyRelease {
  private let interval: Interval
  /// Since when other nodes have had partitions, with their rooms.
  private var elsewhere: [Partition: Instant] = [:]
  /// The partitions whose copies are being closed; `nil` if no closing runs.
  private var closing: Set<Partition>?
  private var next = Instant.origin

  /// - Parameter interval: how often a snapshot of a room is stored.
  package init(interval: Interval) { self.interval = interval }

  /// Records which partitions other nodes have now, with their rooms.
  package mutating func update(at now: Instant, isElsewhere: (Partition) -> Bool) {
    for partition in Partition.all {
      elsewhere[partition] = isElsewhere(partition) ? elsewhere[partition] ?? now : nil
    }
  }

  /// Returns the partitions whose copies are to be closed now. Unless there are none, ``end()``
  /// follows.
  package mutating func begin(at now: Instant) -> Set<Partition> {
    guard closing == nil, now >= next else { return [] }
    next = now + interval
    let patience = Interval(nanoseconds: 2 * interval.nanoseconds)
    let partitions = Set(elsewhere.filter { now - $0.value >= patience }.keys)
    if !partitions.isEmpty { closing = partitions }
    return partitions
  }

  /// Whether copies of a partition are being closed. The node must not load it meanwhile.
  package func isClosing(_ partition: Partition) -> Bool { closing?.contains(partition) ?? false }

  /// Returns whether a copy may still be closed. If not, no further copy of its partition is
  /// closed, and the node may load it.
  package mutating func mayClose(_ partition: Partition) -> Bool {
    guard isClosing(partition) else { return false }
    if elsewhere[partition] != nil { return true }
    closing?.remove(partition)
    return false
  }

  /// The copies are closed.
  package mutating func end() {
    precondition(closing != nil, "no copies were being closed")
    closing = nil
  }
}
