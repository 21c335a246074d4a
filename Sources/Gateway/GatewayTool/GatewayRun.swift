import ControlInterface
import Gateway
import Glibc
import Ingest
import JSON
import LiveSources
import NIOCore
import NIOPosix
import NatsClient
import Systemd
import UnixSockets
import Varlink

/// A node of a cluster from its start to its end.
struct GatewayRun {
  private let configuration: GatewayConfiguration

  init(_ configuration: GatewayConfiguration) { self.configuration = configuration }

  func run() async throws {
    let ending = Ending()
    // It ends with the program: the library of NATS and tasks that are under way go on until then.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    do {
      let node = try await ClusterNode.start(configuration.node(), on: loop)
      try await serve(node, loop, ending)
      try await loop.flatSubmit { node.value.stop() }.get()
    } catch {
      throw Self.told(error)
    }
  }

  private func serve(
    _ node: NIOLoopBound<ClusterNode>, _ loop: any EventLoop, _ ending: Ending
  ) async throws {
    let access = Access()
    var settings = IngestConfiguration()
    settings.maySend = { access.mayChange($0) }
    let ingest = try await IngestServer.start(
      on: .bind(path: configuration.ingest, mode: 0o660), group: loop, configuration: settings,
      sink: LogSink(node))
    let directory = try await loop.submit { node.value.directory }.get()
    let tunnels = configuration.tunnels()
    let origin: Origin = { room in
      if let room { try await directory.settled(room) }
      return try await tunnels.path(for: directory.address(of: room))
    }
    let relay = Relay(origin: origin, maximumRate: nil)
    let acts = LoggedActs(node, on: loop, origin: origin)
    let control = try await relay.serve(
      on: .bind(path: configuration.listen, mode: 0o666), viewers: configuration.viewers,
      mayChange: { access.mayChange($0) },
      own: { interface in
        try acts.add(to: &interface)
        try interface.handle("ListRooms") { (_, _: NoParameters) in
          ListRoomsReply(rooms: await Self.rooms(of: directory, tunnels))
        }
        try interface.handle("GetMetrics") { (_, _: NoParameters) in
          GetMetricsReply(metrics: directory.status?.metrics ?? [])
        }
      },
      also: [
        try GatewayInterface(node, on: loop, directory).make(mayChange: { access.mayChange($0) })
      ])
    var tunnel: (any Channel)?
    if let address = configuration.tunnelAddress, let identity = configuration.identity {
      tunnel = try await Tunnel.listen(
        host: address.host, port: address.port, identity: identity, to: configuration.control)
    }
    try? ServiceNotifier().ready(status: "node \(configuration.name)")
    let (failures, failed) = AsyncStream.makeStream(of: String.self)
    try await loop.submit { node.value.failed = { failed.yield($0) } }.get()
    let signalled = Task { [stream = ending.signals] in
      for await _ in stream { return failed.finish() }
    }
    var failure: String?
    for await text in failures {
      failure = text
      break
    }
    signalled.cancel()
    try? ServiceNotifier().stopping()
    // Others have the partitions before senders are let go.
    try await loop.flatSubmit { node.value.drain() }.get()
    try? await tunnel?.close()
    await ingest.shutdown()
    await control.shutdown()
    if let failure { throw GatewayError.configuration(failure) }
  }

  /// The rooms of every node that it has a lease for. What a node has of other nodes' rooms is old, but all there is if
  /// those are not reached.
  private static func rooms(of directory: NodeDirectory, _ tunnels: Tunnels) async -> [RoomSummary]
  {
    try? await directory.settled(nil)
    var found: [String: [RoomSummary]] = [:]
    for (name, address) in directory.addresses {
      guard let path = try? await tunnels.path(for: address),
        let client = try? await ControlClient.connect(path: path),
        let reply = try? await client.listRooms()
      else { continue }
      found[name] = reply.rooms
    }
    var rooms: [String: RoomSummary] = [:]
    for (name, summaries) in found {
      for room in summaries {
        let owner = directory.owner(of: room.room) ?? name
        if owner == name || found[owner] == nil { rooms[room.room] = room }
      }
    }
    return rooms.values.sorted { $0.room < $1.room }
  }

  private static func told(_ error: any Error) -> GatewayError {
    switch error {
    case let error as GatewayError: error
    case NatsError.unreachable(let text): .unavailable("no NATS server answers: \(text)")
    case NatsError.refused(let text): .notPermitted("the NATS server refuses this gateway: \(text)")
    case NatsError.settings(let text): .configuration("the settings for NATS are wrong: \(text)")
    case ClusterError.noJetStream:
      .unavailable(
        "the NATS server has no JetStream for this account; see 'jetstream' in its configuration")
    case ClusterError.noLeader:
      .unavailable("the NATS servers have no leader; most of a cluster's servers must run")
    case ClusterError.oldServer:
      .unavailable("the NATS server is older than 2.11; install a newer one")
    case ClusterError.stream(let name, let reason):
      .unavailable("the stream \(name) cannot be made: \(reason)")
    case let error as ListeningSocketError: .notPermitted(error.description)
    default: GatewayError(1, "\(error)")
    }
  }
}

/// The ways to the control sockets of other nodes, made when they are needed first.
actor Tunnels {
  private let identity: Tunnel.Identity?
  private let directory: String
  private var paths: [String: String] = [:]

  init(identity: Tunnel.Identity?, directory: String) {
    (self.identity, self.directory) = (identity, directory)
  }

  func path(for address: String) async throws -> String {
    if address.contains("/") { return address }
    if let path = paths[address] { return path }
    guard let identity, let peer = PeerAddress(address, defaultPort: 7443) else {
      throw GatewayError.configuration("the node at \(address) is reached by TLS; set tls.*")
    }
    let path = "\(directory)/peer-\(paths.count)"
    paths[address] = path
    _ = try await Tunnel.connect(
      path: path, host: peer.host, port: peer.port, identity: identity)
    return path
  }
}
