import ArgumentParser
import ControlInterface
import Gateway
import Glibc
import LiveSources
import NIOCore
import ProgramArguments
import Systemd
import UnixSignals
import UnixSockets
import Varlink

struct RelayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay", abstract: "Show the rooms of one daemon on another socket.",
    discussion: """
      The relay opens one monitor per room at the daemon, however many viewers, and forwards \
      all other calls. A socket is a path, for example one that 'ssh -L' forwards, or HOST:PORT \
      for TLS with certificates on both sides. TLS clients are read-only unless --acting allows \
      them to change rooms. livehostctl --socket and livehost-web --socket work with a relay as \
      they do with a daemon.
      """)

  @OptionGroup var arguments: RelayArguments

  private var from: String { arguments.from ?? "/run/livehost/io.livehost.Control" }

  private var identity: Tunnel.Identity? {
    guard let certificate = arguments.certificate, let key = arguments.key, let ca = arguments.ca
    else { return nil }
    return Tunnel.Identity(certificate: certificate, key: key, authorities: ca)
  }

  func validate() throws {
    for socket in [from, arguments.listen] where !socket.contains("/") {
      guard let address = PeerAddress(socket, defaultPort: 0), address.port > 0 else {
        throw ValidationError("'\(socket)' is neither a path nor HOST:PORT")
      }
      if identity == nil {
        throw ValidationError("TLS needs --certificate, --key and --ca")
      }
    }
  }

  func run() async throws {
    signal(SIGPIPE, SIG_IGN)
    do { try identity?.check() } catch { throw GatewayError.configuration(error.description) }
    let (listen, acting) = (arguments.listen, arguments.acting)
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    let directory = try PrivateDirectory()
    defer { directory.remove() }
    var origin = from
    var tunnels: [any Channel] = []
    do {
      if let address = remote(from), let identity {
        origin = directory.path + "/origin"
        tunnels.append(
          try await Tunnel.connect(
            path: origin, host: address.host, port: address.port, identity: identity,
            report: { GatewayProgram.report($0) }))
      }
      let relay = Relay(origin: { [origin] _ in origin }, maximumRate: arguments.rate)
      let address = remote(listen)
      let path = address == nil ? listen : directory.path + "/relay"
      let access = Access()
      let server = try await relay.serve(
        on: .bind(path: path, mode: address == nil ? 0o666 : 0o600), viewers: arguments.viewers,
        mayChange: { address == nil ? access.mayChange($0) : acting })
      if let address, let identity {
        tunnels.append(
          try await Tunnel.listen(
            host: address.host, port: address.port, identity: identity, to: path,
            report: { GatewayProgram.report($0) }))
      }
      try? ServiceNotifier().ready(status: "relays \(from)")
      let attempt = Task { [origin, from] in await Self.tryOrigin(at: origin, named: from) }
      for await _ in signals { break }
      attempt.cancel()
      for tunnel in tunnels { try? await tunnel.close() }
      await server.shutdown()
    } catch let error as ListeningSocketError {
      throw GatewayError.notPermitted(error.description)
    } catch is SocketAddressError.UnknownHost {
      throw GatewayError.unavailable("\(listen): the name has no address on this machine")
    } catch let error as IOError {
      throw GatewayError.unavailable("\(listen): \(String(cString: strerror(error.errnoCode)))")
    } catch {
      throw GatewayError.configuration("\(error)")
    }
  }

  /// Reports on standard error if the origin does not answer yet. This is not fatal, because the
  /// relay connects to the origin again for each viewer.
  private static func tryOrigin(at path: String, named name: String) async {
    let reason: String
    do throws(VarlinkClientError) {
      _ = try await ControlClient.connect(path: path).listRooms()
      return
    } catch {
      switch error {
      case .cancelled: return
      case .notReachable(_, let code): reason = String(cString: strerror(code))
      case .connectionClosed: reason = "the connection was closed"
      case .remote(let error): reason = "the answer is \(error.name)"
      case .protocolViolation, .invalidParameters, .unexpectedReply:
        reason = "the answering program is not livehostd"
      }
    }
    GatewayProgram.report("cannot show the rooms of \(name) yet: \(reason)")
  }

  private func remote(_ socket: String) -> PeerAddress? {
    socket.contains("/") ? nil : PeerAddress(socket, defaultPort: 0)
  }
}
