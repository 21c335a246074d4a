import ControlInterface
import LiveEvents
import LiveSources
import RateLimiting
import Varlink

// The local daemon's copies of rooms that other nodes have by now. They are not fed, and count among its rooms.
extension ClusterNode {
  /// How long another node must have had a partition: by then that has stored snapshots of its own.
  private var patience: Interval {
    Interval(nanoseconds: 2 * settings.snapshotInterval.nanoseconds)
  }

  /// Closes the copies, once in a while.
  func release(_ now: Instant) {
    for partition in Partition.all {
      let isElsewhere =
        keeper.owner(of: partition)?.node != settings.node
        && keeper.isLeased(partition, at: now) && !keeper.isLoading(partition, at: now)
      elsewhere[partition] = isElsewhere ? elsewhere[partition] ?? now : nil
    }
    guard releasing.isEmpty, daemon.isConnected, now >= nextRelease else { return }
    nextRelease = now + settings.snapshotInterval
    releasing = Set(elsewhere.filter { now - $0.value >= patience }.keys)
    guard !releasing.isEmpty else { return }
    let (control, logs, partitions, node) = (settings.control, Set(logs.values), releasing, handle)
    Task {
      try? await ClusterNode.release(partitions, control, logs, node)
      node.perform {
        $0.releasing = []
        $0.begin()
      }
    }
  }

  /// Whether a copy may be closed still. If not, the partition of its room may begin: no copy of it is being closed.
  private func mayRelease(_ partition: Partition) -> Bool {
    guard releasing.contains(partition) else { return false }
    if elsewhere[partition] != nil { return true }
    releasing.remove(partition)
    begin()
    return false
  }

  /// Closes those that came by the log. This node begins no partition meanwhile whose rooms are closed.
  private static func release(
    _ partitions: Set<Partition>, _ control: String, _ logs: Set<String>, _ node: NodeHandle
  ) async throws {
    let client = try await ControlClient.connect(path: control)
    for summary in try await client.listRooms().rooms {
      guard let room = RoomName(summary.room), partitions.contains(Partition(of: room)),
        try await node.get({ $0.mayRelease(Partition(of: room)) })
      else { continue }
      do {
        try await client.closeCopy(of: summary.room, by: logs)
      } catch VarlinkClientError.remote {
        // It is gone already.
      }
    }
    await client.client.close()
  }
}

extension ControlClient {
  /// Closes a room that came by one of these logs; others are somebody's who feeds the daemon directly. Its recording ends
  /// with it, and is kept.
  func closeCopy(of room: String, by logs: Set<String>) async throws {
    let positions = try await getPositions(room: room).positions
    if !logs.isDisjoint(with: positions.keys) { try await closeRoom(room) }
  }
}
