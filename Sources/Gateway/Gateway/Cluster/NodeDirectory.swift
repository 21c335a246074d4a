import LiveEvents
import Platform
import RateLimiting

/// Who has which partition, for the threads that serve calls.
package final class NodeDirectory: Sendable {
  private struct State {
    var owners: [Partition: LeaseKeeper.Owner] = [:]
    var nodes: [String: String] = [:]
    var status: GatewayStatus?
  }

  private let node: String
  private let control: String
  private let state = Guarded(State())

  init(node: String, control: String) { (self.node, self.control) = (node, control) }

  func update(_ keeper: LeaseKeeper, status: GatewayStatus, at now: Instant) {
    var owners: [Partition: LeaseKeeper.Owner] = [:]
    for partition in Partition.all {
      var owner = keeper.owner(of: partition)
      // Nobody waits for one that is gone.
      if !keeper.isLeased(partition, at: now) { owner?.isLoading = false }
      owners[partition] = owner
    }
    let new = State(owners: owners, nodes: keeper.liveNodes(at: now), status: status)
    state.withLock { $0 = new }
  }

  package var status: GatewayStatus? { state.withLock { $0.status } }

  /// The control interface of a room's owner; the local daemon's if there is none, or nobody is named.
  package func address(of room: String?) -> String {
    guard let room = room.flatMap({ RoomName($0) }),
      let owner = state.withLock({ $0.owners[Partition(of: room)] }), owner.node != node
    else { return control }
    return owner.address
  }

  /// Waits until the owner of a room has its state, or until the owners of all rooms have; but not for long, since an answer
  /// is waited for.
  package func settled(_ room: String?) async throws {
    let partition = room.flatMap { RoomName($0) }.map { Partition(of: $0) }
    guard room == nil || partition != nil else { return }
    for _ in 0..<100 {
      let isLoading = state.withLock { state in
        state.owners.contains { $0.value.isLoading && $0.key == partition ?? $0.key }
      }
      guard isLoading else { return }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Every node with its control interface.
  package var addresses: [String: String] {
    var nodes = state.withLock { $0.nodes }
    nodes[node] = control
    return nodes
  }

  package func owner(of room: String) -> String? {
    RoomName(room).flatMap { room in state.withLock { $0.owners[Partition(of: room)]?.node } }
  }

  /// The name of the node that has each partition, or had it last.
  var owners: [Partition: String] { state.withLock { $0.owners.mapValues(\.node) } }

  func isKnown(_ name: String) -> Bool {
    name == node
      || state.withLock { $0.nodes[name] != nil || $0.owners.values.contains { $0.node == name } }
  }
}
