import LiveEvents
import Locking
package import RateLimiting
import SystemSupport

/// The owner of each partition. The threads that serve calls look up owners here.
package final class NodeDirectory: Sendable {
  private struct State {
    var owners: [Partition: LeaseKeeper.Owner] = [:]
    /// For each partition whose rooms no daemon has, the time at which this was first observed.
    /// Calls wait only for the partitions in ``awaited``.
    var loading: [Partition: Instant] = [:]
    var awaited: Set<Partition> = []
    var nodes: [String: String] = [:]
    var idle: Set<String> = []
    var status: GatewayStatus?
  }

  /// How long calls wait for a partition to be loaded before they are forwarded anyway.
  private static let patience = Interval.seconds(5)

  private let node: String
  private let control: String
  private let state = Guarded(State())
  private let moved = Guarded<(@Sendable (Set<Partition>) -> Void)?>(nil)

  package init(node: String, control: String) { (self.node, self.control) = (node, control) }

  /// Calls `body` with the partitions whose owner has changed, on the thread that calls
  /// ``update(_:status:at:)``.
  package func onMove(_ body: @escaping @Sendable (Set<Partition>) -> Void) {
    moved.withLock { $0 = body }
  }

  package func update(_ keeper: LeaseKeeper, status: GatewayStatus?, at now: Instant) {
    var new = State(
      nodes: keeper.liveNodes(at: now), idle: Set(keeper.idleNodes(at: now).keys), status: status)
    let (known, owners) = state.withLock { ($0.loading, $0.owners) }
    for partition in Partition.all {
      let owner = keeper.owner(of: partition)
      // The last known owner stays until the new one is known.
      new.owners[partition] = owner ?? owners[partition]
      let isLoading = owner == nil || keeper.isLoading(partition, at: now)
      let since = isLoading ? known[partition] ?? now : nil
      new.loading[partition] = since
      if let since, now - since < Self.patience { new.awaited.insert(partition) }
    }
    state.withLock { [new] in $0 = new }
    // Until now, this node's daemon has answered the calls for partitions without a known owner.
    let changed = Partition.all.filter {
      (owners[$0]?.node ?? node) != (new.owners[$0]?.node ?? node)
    }
    if !changed.isEmpty { moved.withLock { $0 }?(Set(changed)) }
  }

  package var status: GatewayStatus? { state.withLock { $0.status } }

  /// Returns the address of the control interface that answers calls for a room. This is the
  /// address of the room's owner, or the local daemon's if no owner is known or `room` is `nil`.
  package func address(of room: String?) -> String {
    guard let room = room.flatMap({ RoomName($0) }),
      let owner = state.withLock({ $0.owners[Partition(of: room)] }), owner.node != node
    else { return control }
    return owner.address
  }

  /// Whether calls for a room must wait until the room is loaded. If `room` is `nil`, whether calls
  /// for any room must wait.
  package func isLoading(_ room: String?) -> Bool {
    let partition = room.flatMap { RoomName($0) }.map { Partition(of: $0) }
    guard room == nil || partition != nil else { return false }
    let awaited = state.withLock { $0.awaited }
    return partition.map { awaited.contains($0) } ?? !awaited.isEmpty
  }

  /// Waits until a room is loaded, but for at most 5 s, because the caller is waiting for an
  /// answer.
  package func waitUntilLoaded(_ room: String?) async throws {
    var turns = 100
    while turns > 0, isLoading(room) {
      turns -= 1
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// The address of every live node's control interface, by name.
  package var addresses: [String: String] {
    var nodes = state.withLock { $0.nodes }
    nodes[node] = control
    return nodes
  }

  package func owner(of room: String) -> String? {
    RoomName(room).flatMap { room in state.withLock { $0.owners[Partition(of: room)]?.node } }
  }

  /// For each partition, the name of the node that leads it or led it last.
  var owners: [Partition: String] { state.withLock { $0.owners.mapValues(\.node) } }

  func isKnown(_ name: String) -> Bool {
    name == node
      || state.withLock { state in
        state.nodes[name] != nil || state.idle.contains(name)
          || state.owners.values.contains { $0.node == name }
      }
  }
}
