package import NIOCore
import NIOPosix
import Platform
package import UnixSockets

/// Serves interfaces over a unix stream socket.
///
/// Follows UAPI.20. Replies keep the order of the calls of a connection; malformed messages end the
/// connection; `org.varlink.service` is built in.
package final class VarlinkServer: Sendable {
  /// Limits on what clients can make the server hold.
  ///
  /// Its memory is bounded by ``heldBytes``, and by what handlers and single replies take.
  package struct Limits: Sendable {
    /// The most connections at a time, including closed ones whose call is still running. Idle ones are
    /// closed for further ones; if none is idle, those are closed when they are accepted.
    package var connections = 256
    /// The most of them for one user without rights. All users without rights together have three
    /// quarters; so it is with all that is shared.
    package var connectionsPerUser = 64
    /// The longest call without its NUL byte; a longer one ends the connection.
    package var messageBytes = 4 << 20
    /// The longest call of a client without rights, which is told with ``callTooLong``.
    package var messageBytesWithoutRights = 16 << 10
    /// The reply to a call beyond ``messageBytesWithoutRights``.
    package var callTooLong: any VarlinkErrorConvertible & Sendable = ServiceError.permissionDenied
    /// How long the end of a call may take after its beginning.
    package var messageTimeout = TimeAmount.seconds(10)
    /// The most memory for unfinished calls and unread replies of all connections, in bytes. Beyond it,
    /// the connection that has held some the longest is closed. A single reply may be longer.
    package var heldBytes = 32 << 20
    /// The most of it for one user without rights.
    package var heldBytesPerUser = 4 << 20
    /// Whether a peer has rights. Nil: all have.
    package var hasRights: (@Sendable (Peer) -> Bool)?
    /// Whether a peer with rights may use the reserve of a sixteenth, and more than three quarters of the rest.
    /// Nil: all may.
    package var hasReserve: (@Sendable (Peer) -> Bool)?
    /// The most reply bytes, including errors, that may wait for one client before its handlers are
    /// held back. A short reply counts for what it costs, about half a kibibyte.
    package var outputBytes = 256 << 10
    /// The most calls with `more` in progress, over all connections.
    package var monitors = 64
    /// The most of them for one user without rights.
    package var monitorsPerUser = 16
    /// The reply to a call beyond ``monitors``.
    package var tooManyMonitors: any VarlinkErrorConvertible & Sendable =
      ServiceError.permissionDenied
    /// How long ``VarlinkServer/shutdown()`` lets a call finish and a client read its replies.
    ///
    /// A client that reads at all has done so within milliseconds. One that is stopped in a
    /// debugger never does, and must not keep a service from ending within its service manager's
    /// time-out.
    package var drainTimeout = TimeAmount.seconds(2)

    package init() {}

    var shares: ClientShares.Limits {
      ClientShares.Limits(
        connections: .init(total: connections, perUser: connectionsPerUser),
        monitors: .init(total: monitors, perUser: monitorsPerUser),
        bytes: .init(total: heldBytes, perUser: heldBytesPerUser), closesIdle: true)
    }
  }

  /// Why a server did not start.
  package enum StartError: Error, Equatable, Sendable {
    case interfaceTwice(String)
    /// Another server has taken the socket.
    case socketTaken
    case failed(String)
  }

  private struct State {
    var isStopping = false
    var connections: [ClientShares.ID: Connection] = [:]
    /// Waiting for the end of the last connection.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }
  private struct Connection {
    let channel: any Channel
    let handler: NIOLoopBound<ServerConnection>
  }

  private let dispatcher: Dispatcher
  private let limits: Limits
  private let clients: Clients
  private let state = Guarded(State())
  private let listener: Guarded<(channel: any Channel, file: SocketFile?)?> = Guarded(nil)

  private init(dispatcher: Dispatcher, limits: Limits) {
    self.dispatcher = dispatcher
    self.limits = limits
    // Where nobody is told apart by rights, all have them.
    clients = Clients(limits.shares) { peer in
      guard limits.hasRights?(peer) ?? true else { return .stranger }
      return limits.hasReserve?(peer) ?? true ? .owner : .member
    }
  }

  /// Starts to accept connections; when this returns, clients can connect.
  ///
  /// Takes the socket, which serves once; at the end it is closed and its file removed if it was
  /// made here.
  /// - Parameters:
  ///   - group: Its loops run the connections and their handlers. It must outlive the server.
  ///   - unexpectedError: Told of errors that are neither ``VarlinkErrorConvertible`` nor a
  ///     cancellation; gives the reply, or nil to close the connection without one.
  package static func start(
    on socket: ListeningSocket, information: ServiceInformation, interfaces: [Interface],
    limits: Limits = Limits(), group: any EventLoopGroup,
    unexpectedError: @escaping @Sendable (Call, any Error) -> VarlinkError? = { _, _ in nil }
  ) async throws(StartError) -> VarlinkServer {
    let service: Interface
    do {
      service = try Interface.service(information, describing: interfaces)
    } catch { throw .failed("\(error)") }
    let dispatcher = try Dispatcher(
      interfaces: [service] + interfaces, limits: limits, unexpectedError: unexpectedError)
    let server = VarlinkServer(dispatcher: dispatcher, limits: limits)
    let file = socket.file
    guard let descriptor = socket.take() else { throw .socketTaken }
    do {
      let channel = try await ServerBootstrap(group: group)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try PassedDescriptors.guardAgainst(on: channel)
          }.flatMap { server.accept(channel) }
        }
        // So that a client may end its input and still read the replies.
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .accept(on: descriptor)
      server.listener.withLock { $0 = (channel, file) }
    } catch {
      file?.remove()
      throw .failed("\(error)")
    }
    return server
  }

  /// The number of connections that are open, or closed but with a call still running.
  package var connectionCount: Int { clients.connections }

  /// The number of calls with `more` in progress.
  package var monitorCount: Int { clients.monitors }

  /// What clients were refused so far.
  package var refusals: RefusalCounts { clients.refusals }

  /// Stops in an orderly way: refuses new connections, ends monitors, lets other calls reply, and
  /// closes the connections.
  ///
  /// Returns when the last connection is closed and the last handler has ended, so that the event
  /// loops may then be shut down. Calls that run longer than ``Limits/drainTimeout`` are cancelled,
  /// and clients that have not read their replies by then lose them; if the waiting task is
  /// cancelled, both happen at once. A handler that ignores its cancellation delays this.
  package func shutdown() async {
    await stopListening()
    let connections = beginStopping()
    for connection in connections {
      connection.channel.eventLoop.execute { connection.handler.value.stop() }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { resumeAfterLast($0) }
    } onCancel: {
      for connection in connections {
        connection.channel.eventLoop.execute { connection.handler.value.stopImmediately() }
        connection.channel.close(promise: nil)
      }
    }
  }

  private func beginStopping() -> [Connection] {
    state.withLock { state in
      state.isStopping = true
      // In the order in which they came.
      return state.connections.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  private func resumeAfterLast(_ waiter: CheckedContinuation<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.connections.isEmpty { state.waiters.append(waiter) }
      return state.connections.isEmpty
    }
    if isOver { waiter.resume() }
  }

  private func stopListening() async {
    let listener = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    guard let listener else { return }
    listener.file?.remove()
    try? await listener.channel.close().get()
  }

  private func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
    guard let seat = clients.admit(channel, peer: Peer(channel)) else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let handler = ServerConnection(
      dispatcher: dispatcher, limits: limits, eventLoop: channel.eventLoop, seat: seat)
    let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    let isAdmitted = state.withLock { state in
      if !state.isStopping {
        state.connections[seat.id] = Connection(channel: channel, handler: bound)
      }
      return !state.isStopping
    }
    guard isAdmitted else {
      clients.remove(seat.id)
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    channel.closeFuture.whenComplete { _ in bound.value.channelClosed { self.forget(seat.id) } }
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(handler)
    }
  }

  private func forget(_ key: ClientShares.ID) {
    clients.remove(key)
    let waiters = state.withLock { state in
      state.connections.removeValue(forKey: key)
      guard state.connections.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
