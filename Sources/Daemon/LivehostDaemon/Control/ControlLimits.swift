import ControlInterface
import UnixSockets
import Varlink

extension VarlinkServer.Limits {
  /// The limits of the control socket. Each user may use at most a quarter of the connections and
  /// of the monitors.
  init(
    _ configuration: Configuration, hasRights: @escaping @Sendable (Peer) -> Bool,
    hasReserve: @escaping @Sendable (Peer) -> Bool
  ) {
    self.init()
    connections = configuration.controlConnections
    connectionsPerUser = max(1, connections / 4)
    monitors = configuration.monitors
    monitorsPerUser = max(1, monitors / 4)
    self.hasRights = hasRights
    self.hasReserve = hasReserve
    callTooLong = ControlInterface.callTooLong
    tooManyMonitors = ControlInterface.tooManyMonitors
  }
}
