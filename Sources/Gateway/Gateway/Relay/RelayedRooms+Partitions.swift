import LiveEvents

extension RelayedRooms {
  /// Monitors the rooms of these partitions at their current origins from now on, like
  /// ``reroute(where:)``.
  package func reroute(_ partitions: Set<Partition>) {
    reroute { room in RoomName(room).map { partitions.contains(Partition(of: $0)) } ?? false }
  }
}
