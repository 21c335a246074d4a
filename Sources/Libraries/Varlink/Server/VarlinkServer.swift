import Locking
package import NIOCore
import NIOPosix
import SystemSupport
package import UnixSockets

/// Serves interfaces, including `org.varlink.service`, over a Unix stream socket (UAPI.20). Each
/// connection gets its replies in the order of its calls. Malformed messages end the connection.
package final class VarlinkServer: Sendable {
  /// Limits on the resources that clients can make the server hold. The server's memory is bounded
  /// by ``heldBytes`` plus the memory of handlers and single replies.
  package struct Limits: Sendable {
    /// The maximum number of connections, including closed ones with a call still running. Idle
    /// connections are closed in favour of new ones; if none is idle, a new one is closed.
    package var connections = 256
    /// The maximum number of connections of one user without rights. All users without rights
    /// together may use three quarters of ``connections`` and of every other shared resource.
    package var connectionsPerUser = 64
    /// The maximum length of a call without its NUL byte. A longer call ends the connection.
    package var messageBytes = 4 << 20
    /// The maximum length of a call by a client without rights; longer calls get ``callTooLong``.
    package var messageBytesWithoutRights = 16 << 10
    /// The reply to a call that exceeds ``messageBytesWithoutRights``.
    package var callTooLong: any VarlinkErrorConvertible & Sendable = ServiceError.permissionDenied
    /// The maximum time between the beginning and the end of a call.
    package var messageTimeout = TimeAmount.seconds(10)
    /// The maximum memory in bytes for unfinished calls and unread replies of all connections. If
    /// it is exceeded, the connection that has held memory the longest is closed. A single reply
    /// may be longer.
    package var heldBytes = 32 << 20
    /// The maximum of ``heldBytes`` for one user without rights.
    package var heldBytesPerUser = 4 << 20
    /// Returns whether a peer has rights. Nil means that all peers have rights.
    package var hasRights: (@Sendable (Peer) -> Bool)?
    /// Returns whether a peer with rights may use the reserve of a sixteenth, and more than three
    /// quarters of the rest. Nil means that all peers with rights may.
    package var hasReserve: (@Sendable (Peer) -> Bool)?
    /// The maximum number of reply bytes, including errors, that may wait for one client before its
    /// handlers are held back. A short reply counts as its actual cost, about half a kibibyte.
    package var outputBytes = 256 << 10
    /// The maximum number of calls with `more` in progress, over all connections.
    package var monitors = 64
    /// The maximum number of calls with `more` of one user without rights.
    package var monitorsPerUser = 16
    /// The reply to a call that exceeds ``monitors``.
    package var tooManyMonitors: any VarlinkErrorConvertible & Sendable =
      ServiceError.permissionDenied
    /// The time that ``VarlinkServer/shutdown()`` gives a call to finish and a client to read its
    /// replies.
    ///
    /// A client that reads at all finishes within milliseconds. A client that is stopped in a
    /// debugger must not prevent a service from ending within its service manager's timeout.
    package var drainTimeout = TimeAmount.seconds(2)

    package init() {}

    var shares: ClientShares.Limits {
      ClientShares.Limits(
        connections: .init(total: connections, perUser: connectionsPerUser),
        monitors: .init(total: monitors, perUser: monitorsPerUser),
        bytes: .init(total: heldBytes, perUser: heldBytesPerUser), closesIdle: true)
    }
  }

  /// The reason why a server did not start.
  package enum StartError: Error, Equatable, Sendable {
    case interfaceTwice(String)
    /// Another server has taken the socket's descriptor.
    case socketTaken
    case failed(String)
  }

  private struct State {
    var isStopping = false
    var connections: [ClientShares.ID: Connection] = [:]
    /// The tasks that wait for the end of the last connection.
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
    // If the server does not distinguish peers by rights, all peers have rights.
    clients = Clients(limits.shares) { peer in
      guard limits.hasRights?(peer) ?? true else { return .stranger }
      return limits.hasReserve?(peer) ?? true ? .owner : .member
    }
  }

  /// Starts to accept connections. When this method returns, clients can connect.
  ///
  /// Takes the socket's descriptor, so a socket can be used only once. At the end the socket is
  /// closed, and its file is removed if it was created by this process.
  /// - Parameters:
  ///   - group: The event loops that run the connections and their handlers, and must outlive the
  ///     server.
  ///   - unexpectedError: Called with errors that are neither ``VarlinkErrorConvertible`` nor a
  ///     cancellation. Returns the reply, or nil to close the connection without a reply.
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
    guard let descriptor = socket.removeDescriptor() else { throw .socketTaken }
    do {
      let channel = try await ServerBootstrap(group: group)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try PassedDescriptors.guardAgainst(on: channel)
          }.flatMap { server.accept(channel) }
        }
        // A client may end its input and still read the replies.
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .accept(on: descriptor)
      server.listener.withLock { $0 = (channel, file) }
    } catch {
      file?.remove()
      throw .failed("\(error)")
    }
    return server
  }

  /// The number of connections that are open, or closed with a call still running.
  package var connectionCount: Int { clients.connections }

  /// The number of calls with `more` in progress.
  package var monitorCount: Int { clients.monitors }

  /// The resources that clients were refused so far.
  package var refusals: RefusalCounts { clients.refusals }

  /// Stops the server gracefully: refuses new connections, ends monitors, lets other calls reply,
  /// and closes the connections.
  ///
  /// Returns when the last connection is closed and the last handler has ended, so that the event
  /// loops can be shut down afterwards. Calls that take longer than ``Limits/drainTimeout`` are
  /// cancelled, and clients that have not read their replies by then lose them. If the waiting task
  /// is cancelled, both happen immediately. A handler that ignores its cancellation delays the
  /// shutdown.
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
      // Sorted in the order in which the connections were accepted.
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
