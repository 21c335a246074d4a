import Ingest
import Systemd
import Varlink

/// The daemon's listening sockets: those that systemd passed, else its own.
struct Sockets {
  let control: VarlinkServer.Address
  let ingest: ListeningSocket
  /// Where clients find them, for the log.
  let description: String

  /// - Throws: ``DaemonError`` that names the path and the remedy.
  init(_ paths: RuntimePaths) throws(DaemonError) {
    let activated: ActivatedDescriptors
    let controlSocket: Int32?
    let ingestSocket: Int32?
    do throws(ActivatedDescriptors.Failure) {
      activated = try ActivatedDescriptors.take()
      controlSocket = try activated.socket(named: "varlink")
      ingestSocket = try activated.socket(named: "ingest")
    } catch {
      throw .activation(error.description)
    }
    if controlSocket == nil || ingestSocket == nil { try paths.makeRuntimeDirectory() }
    control = controlSocket.map { .listening($0) } ?? .path(paths.controlSocket)
    do throws(IngestServerError) {
      if let ingestSocket {
        ingest = try ListeningSocket.adopt(descriptor: ingestSocket)
      } else {
        ingest = try ListeningSocket.bind(path: paths.ingestSocket, mode: 0o660)
      }
    } catch {
      throw .socket("ingest socket \(error.description)")
    }
    self.description =
      controlSocket == nil ? "sockets in \(paths.runtimeDirectory)" : "sockets by activation"
  }
}

extension VarlinkServer.StartError {
  /// What the reader of a log is told.
  var explanation: String {
    switch self {
    case .interfaceTwice(let name): "interface \(name) is served twice"
    case .inUse(let path):
      "control socket \(path): another process listens on this socket; is livehostd running already?"
    case .notASocket(let path): "control socket \(path): exists and is not a socket"
    case .pathTooLong(let path): "control socket \(path): the path is too long for a socket"
    case .system(let path, let call, let code):
      "control socket \(path): \(call) failed with error \(code)"
    case .badDescriptor(let descriptor):
      "control socket: file descriptor \(descriptor) is not a listening socket"
    case .failed(let problem): "control socket: \(problem)"
    }
  }
}
