import ControlInterface
import Gateway
import Glibc
import Ingest
import JSON
import LiveSources
import NIOCore
import NIOPosix
import Systemd
import UnixSignals
import UnixSockets
import Varlink

/// Runs a node of a cluster from its start to its end.
struct GatewayRun {
  private let configuration: GatewayConfiguration

  init(_ configuration: GatewayConfiguration) { self.configuration = configuration }

  func run() async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    // The event loop group is never shut down, because the NATS library and running tasks use it
    // until the program ends.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    do {
      let node = try await ClusterNode.start(configuration.node(), on: loop)
      try await serve(node, loop, signals)
      try await loop.flatSubmit { node.value.stop() }.get()
    } catch {
      throw Self.gatewayError(for: error)
    }
  }

  private func serve(
    _ node: NIOLoopBound<ClusterNode>, _ loop: any EventLoop, _ signals: UnixSignalsSequence
  ) async throws {
    let access = Access()
    var settings = IngestConfiguration()
    settings.maySend = { access.mayChange($0) }
    let ingest = try await IngestServer.start(
      on: .bind(path: configuration.ingest, mode: 0o660), group: loop, configuration: settings,
      sink: LogSink(node))
    let directory = try await loop.submit { node.value.directory }.get()
    let tunnels = configuration.tunnels()
    let origin: OriginLookup = { room in
      if let room { try await directory.waitUntilLoaded(room) }
      return try await tunnels.path(for: directory.address(of: room))
    }
    let relay = Relay(origin: origin, maximumRate: nil)
    directory.onMove { partitions in Task { await relay.rooms.reroute(partitions) } }
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
      tunnel = try await listen(at: address.port, identity)
    }
    try? ServiceNotifier().ready(status: "node \(configuration.name)")
    let (failures, failed) = AsyncStream.makeStream(of: ClusterError.self)
    try await loop.submit {
      node.value.failed = { failed.yield($0) }
      node.value.report = { GatewayProgram.report($0) }
    }.get()
    let signalled = Task { for await _ in signals { return failed.finish() } }
    var failure: ClusterError?
    for await error in failures {
      failure = error
      break
    }
    signalled.cancel()
    try? ServiceNotifier().stopping()
    // The partitions are given up first, so that other nodes can lead them before this node
    // disconnects the senders.
    try await loop.flatSubmit { node.value.drain() }.get()
    try? await tunnel?.close()
    // The wait is limited, because closing the senders' connections waits for the log, which may be
    // unreachable.
    await Self.wait(atMost: .seconds(5)) { await ingest.shutdown() }
    await control.shutdown()
    if let failure { throw failure }
  }

  /// Listens on all addresses of this machine. Other machines use the name in `address`, which may
  /// resolve to a different address here.
  private func listen(
    at port: Int, _ identity: Tunnel.Identity
  ) async throws -> any Channel {
    do {
      return try await Tunnel.listen(
        host: nil, port: port, identity: identity, to: configuration.control,
        report: { GatewayProgram.report($0) })
    } catch let error as IOError {
      throw GatewayError.unavailable("port \(port): \(String(cString: strerror(error.errnoCode)))")
    }
  }

  /// Returns once `body` has ended or the time is up. In the latter case, `body` continues to run
  /// but nothing waits for it.
  private static func wait(
    atMost limit: Duration, for body: @escaping @Sendable () async -> Void
  ) async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    Task {
      await body()
      end.yield()
    }
    let timer = Task {
      try? await Task.sleep(for: limit)
      end.yield()
    }
    for await _ in ends { break }
    timer.cancel()
  }

  /// Returns the rooms of all nodes. Each room is reported by its owner. A copy of the room on
  /// another node is outdated, and is reported only if the owner cannot be reached.
  private static func rooms(of directory: NodeDirectory, _ tunnels: Tunnels) async -> [RoomSummary]
  {
    try? await directory.waitUntilLoaded(nil)
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

  private static func gatewayError(for error: any Error) -> GatewayError {
    switch error {
    case let error as GatewayError: error
    case NatsError.unreachable(let text): .unavailable("no NATS server answers: \(text)")
    case NatsError.refused(let text): .notPermitted("the NATS server refuses this gateway: \(text)")
    case NatsError.settings(let text): .configuration("the NATS settings are invalid: \(text)")
    case ClusterError.noJetStream:
      .unavailable(
        "the NATS server has no JetStream for this account; see 'jetstream' in its configuration")
    case ClusterError.noLeader:
      .unavailable("the NATS servers have no leader; a majority of the cluster's servers must run")
    case ClusterError.oldServer:
      .unavailable("the NATS server is older than 2.11; install a newer one")
    case ClusterError.stream(let name, let reason):
      .unavailable("the stream \(name) cannot be created: \(reason)")
    case ClusterError.tooFewServers(let count):
      .configuration(
        "a single NATS server cannot keep \(count) copies; set nats.replicas to 1, or start the"
          + " other servers"
      )
    case ClusterError.nameTaken(let name):
      .configuration("another running gateway has the name \(name); change 'name' on one of them")
    case ClusterError.closed(let reason):
      .unavailable("the NATS servers no longer accept this gateway: \(reason)")
    case let error as UnusableFile: .configuration(error.description)
    case let error as ListeningSocketError: .notPermitted(error.description)
    default: GatewayError(1, "\(error)")
    }
  }
}

/// The paths of local sockets that are connected to other nodes' control sockets. Each tunnel is
/// opened when it is first needed.
actor Tunnels {
  private let identity: Tunnel.Identity?
  private let directory: String
  /// The attempts to open a tunnel that are running or have succeeded, by address.
  private var attempts: [String: Task<String, any Error>] = [:]
  private var count = 0

  init(identity: Tunnel.Identity?, directory: String) {
    (self.identity, self.directory) = (identity, directory)
  }

  func path(for address: String) async throws -> String {
    if address.contains("/") { return address }
    let attempt: Task<String, any Error>
    if let known = attempts[address] { attempt = known } else { attempt = try make(address) }
    do { return try await attempt.value } catch {
      // The failed attempt is removed, unless another attempt has replaced it.
      if attempts[address] == attempt { attempts[address] = nil }
      throw error
    }
  }

  private func make(_ address: String) throws -> Task<String, any Error> {
    guard let identity, let peer = PeerAddress(address, defaultPort: 7443) else {
      throw GatewayError.configuration(
        "the node at \(address) requires TLS; set tls.certificate, tls.key and tls.authorities")
    }
    let path = "\(directory)/peer-\(count)"
    count += 1
    let attempt = Task<String, any Error> {
      _ = try await Tunnel.connect(
        path: path, host: peer.host, port: peer.port, identity: identity,
        report: { GatewayProgram.report($0) })
      return path
    }
    attempts[address] = attempt
    return attempt
  }
}
