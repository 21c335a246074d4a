import LiveEvents

extension RelayedRooms {
  /// Follows the rooms of these partitions to their current origin, like ``reroute(where:)``.
  package func reroute(_ partitions: Set<Partition>) {
    reroute { room in RoomName(room).map { partitions.contains(Partition(of: $0)) } ?? false }
  }
}
