import LiveEvents
import Platform
import RateLimiting
package import Varlink

/// What a gateway is doing.
package struct GatewayStatus: Codable, Equatable, Sendable {
  package var node: String
  /// How many partitions this node has.
  package var partitions: Int
  /// Those that are alive.
  package var nodes: [String]
  /// Messages that this node brought into the log, and those of them that were sent again.
  package var stored: Int
  package var repeated: Int
  /// Bytes that the log has not taken so far.
  package var waitingBytes: Int
  /// Batches that the local daemon has of the log.
  package var fed: Int
  /// Messages that were in the log twice, and those that made no sense.
  package var duplicates: Int
  package var unreadable: Int
  package var feedingBytes: Int
  /// What is wrong; empty if nothing is.
  package var problems: [String]
}

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

  private static let definition = """
    # What a node of a cluster is doing.
    interface io.livehost.Gateway

    # Present state of this node.
    method GetStatus() -> (
      # Name of the node.
      node: string,
      # How many of the 64 partitions it has.
      partitions: int,
      # Names of the nodes that are alive.
      nodes: []string,
      # Messages that this node brought into the log.
      stored: int,
      # Those of them that were sent again.
      repeated: int,
      # Bytes that the log has not taken so far.
      waitingBytes: int,
      # Batches of the log that the local daemon has applied and saved.
      fed: int,
      # Messages that were in the log twice.
      duplicates: int,
      # Messages of the log that could not be read.
      unreadable: int,
      # Bytes of batches that the local daemon has not acknowledged.
      feedingBytes: int,
      # What is wrong, in words; empty if nothing is.
      problems: []string
    )

    # Which node has a room.
    method GetOwner(room: string) -> (node: ?string)

    """

  package static let name = "io.livehost.Gateway"

  package func makeInterface() throws -> Interface {
    var interface = try Interface(parsing: Self.definition)
    try interface.handle("GetStatus") { [self] (_, _: NoParameters) in
      guard let status else { throw ServiceError.methodNotImplemented("GetStatus") }
      return status
    }
    try interface.handle("GetOwner") { [self] (_, parameters: OwnerParameters) in
      OwnerReply(node: owner(of: parameters.room))
    }
    return interface
  }
}

package struct OwnerParameters: Codable, Sendable {
  package var room: String

  package init(room: String) { self.room = room }
}

package struct OwnerReply: Codable, Sendable { package var node: String? }
