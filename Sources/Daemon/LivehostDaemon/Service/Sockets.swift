import Systemd
import UnixSockets

/// The daemon's listening sockets: inherited from systemd, or created by the daemon.
struct Sockets {
  let control: ListeningSocket
  let ingest: ListeningSocket
  /// Whether the ingest socket was inherited from the service manager, which then decides who may
  /// connect.
  let isIngestInherited: Bool
  /// The paths of the sockets, for the log.
  let description: String

  /// - Throws: ``DaemonError`` with the path and the remedy.
  init(_ paths: RuntimePaths) throws(DaemonError) {
    let controlSocket: Int32?
    let ingestSocket: Int32?
    do throws(ActivatedDescriptors.Failure) {
      let activated = try ActivatedDescriptors.take()
      controlSocket = try activated.socket(named: "varlink")
      ingestSocket = try activated.socket(named: "ingest")
    } catch {
      throw .activation(error.description)
    }
    isIngestInherited = ingestSocket != nil
    if controlSocket == nil || ingestSocket == nil { try paths.makeRuntimeDirectory() }
    // All users may connect to the control socket, because each call checks the rights of its
    // caller.
    control = try Self.open(controlSocket, or: paths.controlSocket, mode: 0o666, "control")
    ingest = try Self.open(ingestSocket, or: paths.ingestSocket, mode: 0o660, "ingest")
    description =
      controlSocket == nil ? "sockets in \(paths.runtimeDirectory)" : "sockets from systemd"
  }

  private static func open(
    _ inherited: Int32?, or path: String, mode: UInt32, _ name: String
  ) throws(DaemonError) -> ListeningSocket {
    do throws(ListeningSocketError) {
      guard let inherited else { return try ListeningSocket.bind(path: path, mode: mode) }
      return try ListeningSocket.adopt(descriptor: inherited)
    } catch {
      let remedy =
        if case .socketInUse = error { "; is livehostd already running?" } else { "" }
      throw .socket("\(name) socket \(error.description)\(remedy)")
    }
  }
}
