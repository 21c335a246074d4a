import ControlInterface
package import NIOPosix
package import UnixSockets
package import Varlink

extension Relay {
  /// Serves this relay on a socket for at most `viewers` concurrent monitors. Callers that are not
  /// privileged (`mayChange`) share three quarters of the connections.
  package func serve(
    on socket: ListeningSocket, viewers: Int,
    mayChange: @escaping @Sendable (Peer) -> Bool,
    own: (inout Interface) throws -> Void = { _ in }, also interfaces: [Interface] = [],
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> VarlinkServer {
    var limits = VarlinkServer.Limits()
    // Unprivileged users get three quarters of all monitors. Few users connect to a relay: web
    // servers and tunnels.
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
