import ControlInterface
package import NIOPosix
package import UnixSockets
package import Varlink

extension Relay {
  /// Serves this relay on a socket. Unprivileged callers (see `mayChange`) may together have
  /// `viewers` concurrent monitors, and may use three quarters of the connections.
  package func serve(
    on socket: ListeningSocket, viewers: Int,
    mayChange: @escaping @Sendable (Peer) -> Bool,
    own: (inout Interface) throws -> Void = { _ in }, also interfaces: [Interface] = [],
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> VarlinkServer {
    var limits = VarlinkServer.Limits()
    // Unprivileged users may together have three quarters of all monitors. A single user may have
    // all of these, because only a few users, such as a web server and a tunnel, connect to a
    // relay.
    limits.monitors = (viewers * 4 + 2) / 3
    limits.monitorsPerUser = viewers
    limits.connections = limits.monitors + 64
    limits.connectionsPerUser = viewers + 32
    limits.heldBytes = max(limits.heldBytes, viewers * (64 << 10))
    limits.heldBytesPerUser = limits.heldBytes / 2
    limits.hasRights = mayChange
    limits.callTooLong = ControlInterface.callTooLong
    limits.tooManyMonitors = ControlInterface.tooManyMonitors
    return try await VarlinkServer.start(
      on: socket,
      information: ServiceInformation(
        vendor: "livehost", product: "livehost-gateway", version: livehostVersion,
        url: "https://livehost.example"),
      interfaces: [try makeInterface(mayChange: mayChange, own: own)] + interfaces, limits: limits,
      group: group)
  }
}
