import JSON
import LiveEvents
import LiveSources
package import NIOCore
package import Prometheus
package import UnixSockets
package import Varlink

/// What a gateway is doing.
package struct GatewayStatus: Codable, Equatable, Sendable {
  package var node: String
  /// How many partitions this node has.
  package var partitions: Int
  /// Those that are alive and take partitions, and those that run and take none.
  package var nodes: [String]
  package var idle: [String]
  /// Whether somebody asked it to take no partitions.
  package var isDrained: Bool
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
  /// Acts of the log that the local daemon has carried out.
  package var acts: Int
  package var snapshotsStored: Int
  package var snapshotsLoaded: Int
  package var snapshotsFailed: Int
  package var snapshotsUnusable: Int
  /// What is wrong; empty if nothing is.
  package var problems: [String]

  /// The same for Prometheus.
  package var metrics: [MetricFamily] {
    func family(_ name: String, _ kind: MetricFamily.Kind, _ value: Int, _ help: String)
      -> MetricFamily
    {
      MetricFamily("livehost_gateway_\(name)", kind, Double(value), help: help)
    }
    return [
      family("partitions", .gauge, partitions, "Partitions that this node has."),
      family("nodes", .gauge, nodes.count, "Nodes that are alive and take partitions."),
      family("idle_nodes", .gauge, idle.count, "Nodes that run and take no partitions."),
      family("problems", .gauge, problems.count, "What is wrong, as status says it."),
      family(
        "stored_messages_total", .counter, stored, "Messages that this node brought into the log."),
      family("repeated_messages_total", .counter, repeated, "Messages that were sent again."),
      family("waiting_bytes", .gauge, waitingBytes, "Bytes that the log has not taken so far."),
      family("fed_batches_total", .counter, fed, "Batches of the log that livehostd has."),
      family(
        "duplicate_messages_total", .counter, duplicates, "Messages that were in the log twice."),
      family(
        "unreadable_messages_total", .counter, unreadable, "Messages that could not be read."),
      family(
        "feeding_bytes", .gauge, feedingBytes, "Bytes that livehostd has not acknowledged."),
      family("acts_total", .counter, acts, "Acts by calls that livehostd has carried out."),
      family(
        "snapshots_stored_total", .counter, snapshotsStored, "Snapshots of rooms that were stored."),
      family(
        "snapshots_loaded_total", .counter, snapshotsLoaded, "Snapshots of rooms that were loaded."),
      family(
        "snapshots_failed_total", .counter, snapshotsFailed, "Snapshots that could not be stored."),
      family(
        "snapshots_unusable_total", .counter, snapshotsUnusable,
        "Snapshots that could not be loaded."),
    ]
  }
}

/// `io.livehost.Gateway`: what a node of a cluster is doing, and what it is told.
package struct GatewayInterface: Sendable {
  package static let name = "io.livehost.Gateway"

  private static let definition = """
    # What a node of a cluster is doing.
    interface io.livehost.Gateway

    # Present state of this node.
    method GetStatus() -> (
      # Name of the node.
      node: string,
      # How many of the 64 partitions it has.
      partitions: int,
      # Names of the nodes that are alive and take partitions.
      nodes: []string,
      # Names of the nodes that run and take none: drained, without livehostd, or too slow for leases.
      idle: []string,
      # Whether it takes none because somebody asked for that.
      isDrained: bool,
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
      # Acts by calls that the local daemon has carried out.
      acts: int,
      # Snapshots of rooms that this node has stored.
      snapshotsStored: int,
      # Snapshots of rooms that the local daemon was given.
      snapshotsLoaded: int,
      # Attempts to store one that failed; they are repeated.
      snapshotsFailed: int,
      # Snapshots that were damaged or missing.
      snapshotsUnusable: int,
      # What is wrong, in words; empty if nothing is.
      problems: []string
    )

    # The same in the text format of Prometheus.
    method GetMetrics() -> (text: string)

    # Which node has a room.
    method GetOwner(room: string) -> (node: ?string)

    # Which node has each of the 64 partitions; null if none has had it.
    method ListPartitions() -> (nodes: []?string)

    # Has a node give up its partitions and take no more; or, with resume, take its share again.
    # [Requires privileges]
    method DrainNode(node: string, resume: ?bool) -> ()

    # Moves a partition to a node, which keeps it as long as it runs. The partition of a room has the number that
    # GetPartition tells.
    # [Requires privileges]
    method MovePartition(partition: int, node: string) -> ()

    # The partition of a room.
    method GetPartition(room: string) -> (partition: int)

    # No node of this name is known here.
    error NoSuchNode (node: string)

    # The servers did not take it; nothing is changed.
    error NotTaken ()

    """

  private let node: NIOLoopBound<ClusterNode>
  private let loop: any EventLoop
  private let directory: NodeDirectory

  package init(
    _ node: NIOLoopBound<ClusterNode>, on loop: any EventLoop, _ directory: NodeDirectory
  ) {
    (self.node, self.loop, self.directory) = (node, loop, directory)
  }

  package func make(mayChange: @escaping @Sendable (Peer) -> Bool) throws -> Interface {
    var interface = try Interface(parsing: Self.definition)
    interface.authorization = { call in
      guard ["DrainNode", "MovePartition"].contains(call.method) else { return }
      guard let peer = call.peer, mayChange(peer) else { throw ServiceError.permissionDenied }
    }
    try interface.handle("GetStatus") { (_, _: NoParameters) in try status() }
    try interface.handle("GetMetrics") { (_, _: NoParameters) in
      MetricsReply(text: ExpositionFormat.text(try status().metrics))
    }
    try interface.handle("GetOwner") { (_, parameters: OwnerParameters) in
      OwnerReply(node: directory.owner(of: parameters.room))
    }
    try interface.handle("ListPartitions") { (_, _: NoParameters) in
      let owners = directory.owners
      return PartitionsReply(nodes: Partition.all.map { owners[$0] })
    }
    try interface.handle("GetPartition") { (_, parameters: OwnerParameters) in
      guard let room = RoomName(parameters.room) else {
        throw ServiceError.invalidParameter("room")
      }
      return PartitionReply(partition: Partition(of: room).number)
    }
    try interface.handle("DrainNode") { (_, parameters: DrainParameters) in
      try await announce(
        parameters.node, LeaseKeeper.drainKey(of: parameters.node),
        ["drain": .bool(parameters.resume != true)])
    }
    try interface.handle("MovePartition") { (_, parameters: MoveParameters) in
      guard (0..<Partition.count).contains(parameters.partition) else {
        throw ServiceError.invalidParameter("partition")
      }
      return try await announce(
        parameters.node, LeaseKeeper.moveKey(of: Partition(number: parameters.partition)),
        ["node": .string(parameters.node)])
    }
    return interface
  }

  private func status() throws -> GatewayStatus {
    guard let status = directory.status else {
      throw ServiceError.methodNotImplemented("GetStatus")
    }
    return status
  }

  /// Tells all nodes something, by the bucket that they watch anyway.
  private func announce(
    _ name: String, _ key: String, _ members: [JSONName: JSONValue]
  ) async throws -> NoParameters {
    guard directory.isKnown(name) else {
      throw VarlinkError(
        name: "\(Self.name).NoSuchNode", parameters: ["node": .string(String(name.prefix(64)))])
    }
    let handle = NodeHandle(node, on: loop)
    let (calls, instance) = try await handle.get { ($0.calls, $0.keeper.instance(of: name)) }
    var members = members
    // It is told for a while, in which another run may begin that it does not concern.
    members["instance"] = instance.map { .string($0) }
    let value = JSONValue.object(members)
    let sequence = try? await calls.store(ClusterStreams.leaseSubject + key, value.serialized())
    guard let sequence else { throw VarlinkError(name: "\(Self.name).NotTaken") }
    handle.perform { $0.keeper.announce(key, value, sequence: sequence, at: Delivery.now) }
    return NoParameters()
  }

  private struct MetricsReply: Codable { let text: String }
  private struct PartitionsReply: Codable { let nodes: [String?] }
  private struct PartitionReply: Codable { let partition: Int }
  private struct DrainParameters: Codable {
    let node: String
    let resume: Bool?
  }
  private struct MoveParameters: Codable {
    let partition: Int
    let node: String
  }
}

package struct OwnerParameters: Codable, Sendable {
  package var room: String

  package init(room: String) { self.room = room }
}

package struct OwnerReply: Codable, Sendable { package var node: String? }
