import JSON
import LiveEvents
import LiveSources
package import NIOCore
package import Prometheus
package import UnixSockets
package import Varlink

/// The status of a node: its partitions, the counts of its work, and its problems.
package struct GatewayStatus: Codable, Equatable, Sendable {
  package var node: String
  package var partitions: Int
  /// The names of the nodes that are alive and lead partitions.
  package var nodes: [String]
  /// The names of the nodes that are running but lead no partitions.
  package var idle: [String]
  /// Whether an administrator asked the node to lead no partitions.
  package var isDrained: Bool
  /// The number of messages that this node stored in the log.
  package var stored: Int
  /// The number of times that this node sent a message again because the log had not acknowledged
  /// it.
  package var repeated: Int
  /// The number of bytes that are not stored in the log yet.
  package var waitingBytes: Int
  /// The number of batches that the local daemon has acknowledged.
  package var fed: Int
  /// The number of repeated messages in the log, which the node skipped.
  package var duplicates: Int
  /// The number of log messages that could not be read.
  package var unreadable: Int
  /// The number of bytes that the local daemon has not acknowledged.
  package var feedingBytes: Int
  /// The number of host actions that the local daemon has carried out.
  package var acts: Int
  /// The number of snapshots that this node has stored.
  package var snapshotsStored: Int
  /// The number of snapshots that were loaded into the local daemon.
  package var snapshotsLoaded: Int
  /// The number of failed attempts to store a snapshot. Every failed attempt is repeated later.
  package var snapshotsFailed: Int
  /// The number of snapshots that were damaged or missing.
  package var snapshotsUnusable: Int
  package var problems: [String]

  /// The status as metrics for Prometheus.
  package var metrics: [MetricFamily] {
    func family(_ name: String, _ kind: MetricFamily.Kind, _ value: Int, _ help: String)
      -> MetricFamily
    {
      MetricFamily("livehost_gateway_\(name)", kind, Double(value), help: help)
    }
    return [
      family("partitions", .gauge, partitions, "Partitions that this node leads."),
      family("nodes", .gauge, nodes.count, "Nodes that are alive and lead partitions."),
      family("idle_nodes", .gauge, idle.count, "Nodes that run but lead no partitions."),
      family("problems", .gauge, problems.count, "Problems that status reports."),
      family(
        "stored_messages_total", .counter, stored, "Messages that this node stored in the log."),
      family("repeated_messages_total", .counter, repeated, "Messages that were sent again."),
      family("waiting_bytes", .gauge, waitingBytes, "Bytes that the log has not stored yet."),
      family(
        "fed_batches_total", .counter, fed, "Batches of the log that livehostd has acknowledged."),
      family(
        "duplicate_messages_total", .counter, duplicates, "Messages that were in the log twice."),
      family(
        "unreadable_messages_total", .counter, unreadable, "Messages that could not be read."),
      family(
        "feeding_bytes", .gauge, feedingBytes, "Bytes that livehostd has not acknowledged."),
      family("acts_total", .counter, acts, "Host actions that livehostd has carried out."),
      family(
        "snapshots_stored_total", .counter, snapshotsStored, "Snapshots that this node stored."),
      family(
        "snapshots_loaded_total", .counter, snapshotsLoaded,
        "Snapshots that were loaded into livehostd."),
      family(
        "snapshots_failed_total", .counter, snapshotsFailed, "Snapshots that could not be stored."),
      family(
        "snapshots_unusable_total", .counter, snapshotsUnusable,
        "Snapshots that could not be loaded."),
    ]
  }
}

/// The interface `io.livehost.Gateway`: the status of a node, and commands to the nodes of a
/// cluster.
package struct GatewayInterface: Sendable {
  package static let name = "io.livehost.Gateway"

  private static let definition = """
    # The status of a node of a cluster, and commands to its nodes.
    interface io.livehost.Gateway

    # Returns the present status of this node.
    method GetStatus() -> (
      # The name of the node.
      node: string,
      # The number of partitions, out of 64, that the node leads.
      partitions: int,
      # The names of the nodes that are alive and lead partitions.
      nodes: []string,
      # The names of the nodes that run but lead none: drained, without livehostd, or with a link
      # that is too slow for leases.
      idle: []string,
      # Whether the node was asked to lead no partitions.
      isDrained: bool,
      # The number of messages that this node stored in the replicated log.
      stored: int,
      # The number of messages that this node sent again.
      repeated: int,
      # The number of bytes that wait for the log.
      waitingBytes: int,
      # The number of batches of the log that the local daemon has applied and saved.
      fed: int,
      # The number of messages that were in the log twice.
      duplicates: int,
      # The number of messages of the log that could not be read.
      unreadable: int,
      # The number of bytes that the local daemon has not acknowledged.
      feedingBytes: int,
      # The number of acts that the local daemon has carried out.
      acts: int,
      # The number of snapshots of rooms that this node has stored.
      snapshotsStored: int,
      # The number of snapshots of rooms that the local daemon was given.
      snapshotsLoaded: int,
      # The number of failed attempts to store a snapshot; they are repeated.
      snapshotsFailed: int,
      # The number of snapshots that were damaged or missing.
      snapshotsUnusable: int,
      # Descriptions of the node's problems; empty if there are none.
      problems: []string
    )

    # Returns the status in the text format of Prometheus.
    method GetMetrics() -> (text: string)

    # Returns the node that leads a room; null if it is not known.
    method GetOwner(room: string) -> (node: ?string)

    # Returns the node that leads each of the 64 partitions, or led it last; null if none is known.
    method ListPartitions() -> (nodes: []?string)

    # Has a node give up its partitions and lead none; or, with resume, acquire its share again.
    # [Requires privileges]
    method DrainNode(node: string, resume: ?bool) -> ()

    # Moves a partition to a node, which keeps it as long as the node runs. GetPartition returns the
    # number of a room's partition.
    # [Requires privileges]
    method MovePartition(partition: int, node: string) -> ()

    # Returns the number of a room's partition.
    method GetPartition(room: string) -> (partition: int)

    # This node knows no node of this name.
    error NoSuchNode (node: string)

    # The servers did not accept the command, and nothing has changed.
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

  /// Announces a command to all nodes by writing it to the bucket that holds the leases, which all
  /// nodes watch.
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
    // The entry names the node's current run, because it is written repeatedly and must not affect
    // a later run.
    members["instance"] = instance.map { .string($0) }
    let value = JSONValue.object(members)
    let sequence = try? await calls.store(ClusterStreams.leaseSubject + key, value.serialized())
    guard let sequence else { throw VarlinkError(name: "\(Self.name).NotTaken") }
    handle.perform { $0.keeper.announce(key, value, sequence: sequence, at: SourceDelivery.now) }
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
