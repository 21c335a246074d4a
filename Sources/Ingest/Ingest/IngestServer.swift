import Glibc
import Locking
package import NIOCore
import NIOPosix
import SystemSupport
package import UnixSockets

/// Serves the ingest socket. Each connection is a stream of lines in any mix of formats.
package final class IngestServer: Sendable {
  /// The counts of a server.
  package struct Statistics: Sendable, Hashable {
    package var openConnections = 0
    package var acceptedConnections = 0
    /// Connections closed immediately because the limit was reached, the server was stopping, or
    /// the user may not send events.
    package var refusedConnections = 0

    package init() {}
  }

  private struct Refused: Error {}

  private let channel: any Channel
  private let file: SocketFile?
  private let registry: Registry

  private init(channel: any Channel, file: SocketFile?, registry: Registry) {
    self.channel = channel
    self.file = file
    self.registry = registry
  }

  /// Starts accepting connections, distributed over the event loops of `group`. Takes ownership of
  /// the socket, which can be used only once. Returns when connections are accepted.
  package static func start(
    on socket: ListeningSocket, group: any EventLoopGroup,
    configuration: IngestConfiguration = IngestConfiguration(), sink: any IngestSink
  ) async throws(ListeningSocketError) -> IngestServer {
    let registry = Registry(configuration)
    let file = socket.file
    guard let descriptor = socket.removeDescriptor() else { throw .notListening(descriptor: -1) }
    let bootstrap = ServerBootstrap(group: group)
      .childChannelOption(ChannelOptions.autoRead, value: false)
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
      .childChannelOption(
        ChannelOptions.maxMessagesPerRead, value: UInt(IngestConfiguration.readsPerTurn)
      )
      .childChannelOption(
        ChannelOptions.recvAllocator,
        value: FixedSizeRecvByteBufferAllocator(capacity: configuration.readSize)
      )
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try PassedDescriptors.guardAgainst(on: channel, readSize: configuration.readSize)
          guard let slot = registry.admit(channel) else { throw Refused() }
          try channel.pipeline.syncOperations.addHandler(
            IngestConnection(
              configuration: configuration, sink: sink, memory: registry.memory, slot: slot))
        }
      }
    do {
      let channel = try await bootstrap.accept(on: descriptor)
      return IngestServer(channel: channel, file: file, registry: registry)
    } catch {
      file?.remove()
      throw .system(
        call: "accept", code: (error as? IOError)?.errnoCode ?? 0, path: file?.path ?? "")
    }
  }

  package var statistics: Statistics { registry.statistics }

  /// The number of refused connections by user.
  package var refusals: RefusalCounts { registry.refusals }

  /// Stops the server: accepts no more connections, hands over the data already read, answers the
  /// acknowledged syncs, and closes. Returns when all connections are closed.
  ///
  /// Waits until the sink has consumed its deliveries, and then at most
  /// ``IngestConfiguration/drainTimeout`` for senders to read their answers. Cancelling the task
  /// closes all connections immediately.
  package func shutdown() async {
    let (channels, rests) = registry.stop()
    file?.remove()
    for rest in rests { try? await rest().get() }
    let closed = channels.map(\.closeFuture)
    for channel in channels {
      channel.pipeline.fireUserInboundEventTriggered(IngestConnection.Drain())
    }
    await withTaskCancellationHandler {
      try? await channel.close().get()
      for future in closed { try? await future.get() }
    } onCancel: {
      for channel in channels { channel.close(promise: nil) }
    }
  }
}

private final class Registry: Sendable {
  private struct State {
    var statistics = IngestServer.Statistics()
    var shares: ClientShares
    var refusals = RefusalCounts()
    var channels: [ClientShares.ID: any Channel] = [:]
    /// The unprocessed input of senders that have disconnected.
    var rests: [ClientShares.ID: ConnectionSlot.RestProcessing] = [:]
    var isStopping = false
  }

  private let state: Guarded<State>
  private let configuration: IngestConfiguration
  let memory: IngestMemory

  init(_ configuration: IngestConfiguration) {
    self.configuration = configuration
    memory = IngestMemory(limit: configuration.sharedBytes)
    let total = configuration.maximumConnections
    // A sender may stay silent indefinitely, so its connection is never closed in favour of another
    // connection. The limit per user keeps one user from using all connections.
    let limits = ClientShares.Limits(
      connections: .init(total: total, perUser: max(1, total / 2)),
      monitors: .init(total: 0, perUser: 0),
      bytes: .init(total: 0, perUser: 0), closesIdle: false)
    state = Guarded(State(shares: ClientShares(limits)))
  }

  var statistics: IngestServer.Statistics { state.withLock { $0.statistics } }
  var refusals: RefusalCounts { state.withLock { $0.refusals } }

  /// Registers a connection until its slot is released. Returns `nil` if the connection is refused.
  func admit(_ channel: any Channel) -> ConnectionSlot? {
    let peer = Peer(channel)
    let mayUseReserve = peer.map(configuration.hasReserve) ?? true
    let maySend = peer.map(configuration.maySend) ?? true
    let id: ClientShares.ID? = state.withLock { state in
      guard maySend, !state.isStopping,
        let id = state.shares.connect(user: peer?.userID, as: mayUseReserve ? .owner : .stranger).id
      else {
        state.statistics.refusedConnections += 1
        if !state.isStopping {
          state.refusals.add(maySend ? .ingestConnection : .ingestPermission, user: peer?.userID)
        }
        return nil
      }
      state.statistics.acceptedConnections += 1
      state.statistics.openConnections += 1
      state.channels[id] = channel
      return id
    }
    guard let id else {
      sendRefusal(
        channel,
        maySend
          ? "the limit ingest.connections is reached"
          : "this user may not send events")
      return nil
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { state in
        state.channels[id] = nil
        state.statistics.openConnections -= 1
      }
    }
    return ConnectionSlot { rest in
      self.state.withLock { $0.rests[id] = rest }
    } free: {
      // The removed closure is released outside the lock.
      _ = self.state.withLock { state in
        state.shares.disconnect(id)
        return state.rests.removeValue(forKey: id)
      }
    }
  }

  /// Sends the reason for a refusal to a client whose connection is then closed. The socket is new,
  /// so the line fits into its buffer. Errors are ignored: a disconnected client needs no reason.
  private func sendRefusal(_ channel: any Channel, _ reason: String) {
    let reason = state.withLock { $0.isStopping } ? "livehostd is stopping" : reason
    let line = Array("{\"type\":\"refused\",\"reason\":\"\(reason)\"}\n".utf8)
    _ = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { socket in
      send(socket, line, line.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }

  /// Refuses all further connections. Returns the open connections and the unprocessed input of
  /// senders that have disconnected.
  func stop() -> ([any Channel], [ConnectionSlot.RestProcessing]) {
    state.withLock { state in
      state.isStopping = true
      return (Array(state.channels.values), Array(state.rests.values))
    }
  }
}
