import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Varlink
import Wording

struct ClusterVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster",
    abstract: "Show and control the nodes of a cluster of daemons.",
    discussion: """
      Calls the gateway of this machine; see livehost-gateway(8). With --gateway, the other verbs \
      also call the gateway, and show and change the rooms of all nodes.
      """,
    subcommands: [
      ClusterStatusVerb.self, ClusterRoomsVerb.self, ClusterDrainVerb.self, ClusterResumeVerb.self,
      ClusterMoveVerb.self,
    ], defaultSubcommand: ClusterStatusVerb.self)

  // The options are declared here so that users can also write them before the inner verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

/// A verb that calls the cluster gateway instead of the daemon.
protocol GatewayVerb: Verb {}

struct ClusterStatusVerb: GatewayVerb {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of a node and its problems.",
    discussion: """
      Exits with 1 if the node reports a problem.

      JSON: the reply of GetStatus of io.livehost.Gateway, with the member partitionsByNode added.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    var status = try await context.callGateway("GetStatus")
    let nodes = try await context.callGateway("ListPartitions")["nodes"]?.arrayValue ?? []
    let owners = nodes.map { $0.stringValue ?? "-" }
    let counts = Dictionary(grouping: owners, by: \.self).mapValues(\.count)
    status["partitionsByNode"] = .object(
      Dictionary(
        uniqueKeysWithValues: counts.map { (JSONName($0.key), .integer(Int64($0.value))) }))
    let problems = (status["problems"]?.arrayValue ?? []).compactMap(\.stringValue)
    try context.print(.object(status)) {
      var table = TextTable([("NODE", .left), ("PARTITIONS", .right), ("STATE", .left)])
      let live = (status["nodes"]?.arrayValue ?? []).compactMap(\.stringValue)
      let idle = (status["idle"]?.arrayValue ?? []).compactMap(\.stringValue)
      func state(of name: String) -> String {
        if name == "-" { return "not assigned" }
        return live.contains(name)
          ? "alive" : idle.contains(name) ? "takes no rooms" : "unreachable"
      }
      for name in Set(live + idle).union(counts.keys).sorted() {
        table.append([TerminalText.sanitized(name), "\(counts[name] ?? 0)", state(of: name)])
      }
      func number(_ name: JSONName) -> String {
        Format.count(status[name]?.integerValue.map { Int($0) } ?? 0)
      }
      return table.lines(columns: context.console.columns) + [
        "",
        "this node: \(TerminalText.sanitized(status["node"]?.stringValue ?? ""))"
          + (status["isDrained"] == true ? ", drained" : ""),
        "log: \(number("stored")) messages stored, \(number("waitingBytes")) bytes waiting",
        "livehostd: \(number("fed")) batches, \(number("acts")) acts, "
          + "\(number("feedingBytes")) bytes waiting",
        "snapshots: \(number("snapshotsStored")) stored, \(number("snapshotsLoaded")) loaded, "
          + "\(number("snapshotsUnusable")) unusable",
      ] + (problems.isEmpty ? ["no problems"] : problems.map(TerminalText.sanitized))
    }
    if !problems.isEmpty { throw Failure(.failed, "the node reports problems") }
  }
}

struct ClusterRoomsVerb: GatewayVerb {
  static let configuration = CommandConfiguration(
    commandName: "rooms", abstract: "List the rooms of all nodes, each with its node.",
    discussion: "JSON: an array of objects with room, partition and node.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    let rooms = try await context.withDaemon { try await $0.listRooms().rooms.map(\.room) }
    let owners = try await context.callGateway("ListPartitions")["nodes"]?.arrayValue ?? []
    var rows: [(room: String, partition: Int, node: String?)] = []
    for room in rooms {
      let reply = try await context.callGateway("GetPartition", ["room": .string(room)])
      let partition = reply["partition"]?.integerValue.map { Int($0) } ?? 0
      let node = owners.indices.contains(partition) ? owners[partition].stringValue : nil
      rows.append((room, partition, node))
    }
    let list: [JSONValue] = rows.map { row in
      var members: [JSONName: JSONValue] = [
        "room": .string(row.room), "partition": .integer(Int64(row.partition)),
      ]
      members["node"] = row.node.map { .string($0) }
      return .object(members)
    }
    try context.print(.array(list)) {
      if rows.isEmpty { return ["no room is open"] }
      var table = TextTable([("ROOM", .left), ("PARTITION", .right), ("NODE", .left)])
      for row in rows {
        table.append([
          TerminalText.sanitized(row.room), "\(row.partition)",
          TerminalText.sanitized(row.node ?? "-"),
        ])
      }
      return table.lines(columns: context.console.columns)
    }
  }
}

struct ClusterDrainVerb: GatewayVerb {
  static let configuration = CommandConfiguration(
    commandName: "drain", abstract: "Move all rooms of a node to other nodes.",
    discussion: """
      A drained node takes no rooms until 'cluster resume', or until its gateway restarts. Senders \
      may continue to write to the node.

      JSON: an object with the member node.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the node.") var node: String

  func run(_ context: Context) async throws {
    _ = try await context.callGateway("DrainNode", ["node": .string(node)])
    try context.print(["node": .string(node)]) { [] }
  }
}

struct ClusterResumeVerb: GatewayVerb {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Return a drained node to service, with its share of rooms.",
    discussion: "JSON: an object with the member node.")

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the node.") var node: String

  func run(_ context: Context) async throws {
    _ = try await context.callGateway("DrainNode", ["node": .string(node), "resume": true])
    try context.print(["node": .string(node)]) { [] }
  }
}

struct ClusterMoveVerb: GatewayVerb {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a partition, with all its rooms, to a node.",
    discussion: """
      The node keeps the partition as long as it runs. 'cluster rooms' shows the partition of each \
      room.

      JSON: an object with the members partition and node.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Number of the partition: 0 to 63.") var partition: Int
  @Argument(help: "Name of the node.") var node: String

  func run(_ context: Context) async throws {
    let parameters: [JSONName: JSONValue] = [
      "partition": .integer(Int64(partition)), "node": .string(node),
    ]
    _ = try await context.callGateway("MovePartition", parameters)
    try context.print(.object(parameters)) { [] }
  }
}

extension Context {
  fileprivate func callGateway(
    _ method: String, _ parameters: [JSONName: JSONValue] = [:]
  ) async throws -> [JSONName: JSONValue] {
    try await withDaemon { client in
      do {
        return try await client.client.callRaw("io.livehost.Gateway.\(method)", parameters)
      } catch VarlinkClientError.remote(let error) {
        switch (ServiceError(error), error.name) {
        case (.interfaceNotFound?, _):
          throw Failure(
            .notReachable, "the socket belongs to a daemon, not to the gateway of a cluster")
        case (_, "io.livehost.Gateway.NoSuchNode"):
          throw Failure(
            .failed,
            "there is no node '\(TerminalText.sanitized(error.parameters["node"]?.stringValue ?? ""))'"
          )
        case (_, "io.livehost.Gateway.NotTaken"):
          throw Failure(
            .failed, "the NATS servers did not accept the change; nothing was changed")
        default: throw VarlinkClientError.remote(error)
        }
      }
    }
  }
}
