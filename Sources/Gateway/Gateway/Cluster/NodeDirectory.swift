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
    for partition in Partition.all { owners[partition] = keeper.owner(of: partition) }
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
