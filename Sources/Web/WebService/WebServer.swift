import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import JSON
package import Logging
import NIOCore
import UnixSignals
import Varlink

/// A web server for the page and its API. It translates between browsers and the control socket of
/// livehostd.
package struct WebServer: Sendable {
  package struct Settings: Sendable {
    package var address: Address
    /// The address at which browsers reach the page; nil if it is `address`.
    package var publicAddress: PublicAddress?
    /// Host names under which browsers may request the page, in addition to the names of this
    /// machine.
    package var hosts: [String] = []
    package var controlSocket: String
    /// The directory of the scenarios that can be simulated.
    package var scenarios: String?
    package var tokens = Tokens()
    /// The people with personal links; nil if there are none.
    package var people: CurrentPeople?
    /// The certificate for TLS; nil for connections without TLS.
    package var certificate: PageCertificate?
    package var limits = Limits()

    package init(address: Address, controlSocket: String) {
      (self.address, self.controlSocket) = (address, controlSocket)
    }
  }

  package enum Address: Sendable, Equatable {
    /// An IP address of this machine.
    case host(String, port: Int)
    /// The path of a Unix socket on which to listen, for a proxy in front of this program.
    case socket(path: String)
  }

  /// The limits on the resources that browsers can use.
  package struct Limits: Sendable {
    package var connections = 512
    package var streams = 256
    /// The maximum number of events per second in one stream.
    package var rate = 20.0
    /// The time after which a browser that does not read is disconnected.
    package var writeTimeout = Duration.seconds(30)
    /// The time within which a request must arrive completely.
    package var requestTimeout = Duration.seconds(10)
    /// The time without a change after which a stream sends `alive`.
    package var alive = Duration.seconds(10)
    package var bodyBytes = 64 << 10
    package var actingBodyBytes = 8 << 20

    package init() {}
  }

  private let settings: Settings
  private let logger: Logger

  package init(_ settings: Settings, logger: Logger) {
    (self.settings, self.logger) = (settings, logger)
  }

  /// Serves until the process receives a signal to stop. Calls `onListening` once browsers can
  /// connect, with the port, or with 0 for a Unix socket.
  package func run(onListening: @escaping @Sendable (_ port: Int) -> Void) async throws {
    let limits = settings.limits
    let names = HostNames(settings.hosts + (settings.publicAddress.map { [$0.host] } ?? []))
    var configuration = ApplicationConfiguration(address: address, serverName: "livehost-web")
    configuration.availableConnectionsDelegate = .maximum(limits.connections, logger: logger)
    let http = HTTPServerBuilder.http1(
      configuration: .init(
        idleTimeout: TimeAmount(limits.requestTimeout),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 64)))
    let application = Application(
      router: router(names),
      server: try settings.certificate.map { certificate in
        try .tls(http, tlsConfiguration: certificate.configuration)
      } ?? http,
      configuration: configuration,
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? 0
        names.setPort(port)
        onListening(port)
      }, logger: logger)
    let reloading = await reloadOnHangup()
    defer { reloading?.cancel() }
    try await application.runService()
  }

  /// Starts a task that reads the certificate again at each SIGHUP.
  ///
  /// Without a certificate, a program on an IP address keeps the default action of the signal, so
  /// it ends when its terminal is closed. A service on a Unix socket ignores the signal, because an
  /// unnecessary reload must not end it.
  private func reloadOnHangup() async -> Task<Void, Never>? {
    if case .host = settings.address, settings.certificate == nil { return nil }
    let signals = await UnixSignalsSequence(trapping: .sighup)
    return Task { [certificate = settings.certificate, logger] in
      for await _ in signals {
        do {
          try certificate?.reload()
        } catch {
          logger.error("the previous certificate stays in use: \(error)")
        }
      }
    }
  }

  private var address: BindAddress {
    switch settings.address {
    case .host(let name, let port): .hostname(name, port: port)
    case .socket(let path): .unixDomainSocket(path: path)
    }
  }

  private func router(_ names: HostNames) -> Router<WebContext> {
    let (limits, refusals, streams) = (settings.limits, PageRefusalCounts(), StreamCounts())
    let router = Router(context: WebContext.self)
    let control = AccessControl(settings.tokens, settings.people)
    router.add(middleware: SecurityHeaders(isSecure: settings.certificate != nil))
    router.add(middleware: RequestGuard(names: names, refusals: refusals))
    let page = PageFiles(PageFiles.embedded)
    router.get("/") { request, _ in page.document("index.html", request) }
    router.get("/overlay/:part") { request, _ in page.document("overlay.html", request) }
    router.get("/assets/:version/:name") { request, context in
      page.asset(
        try context.parameters.require("version"), try context.parameters.require("name"), request)
    }
    let api = router.group("api").add(
      middleware: TokenGuard(control: control, refusals: refusals))
    let rooms = WatchedRooms(controlSocket: settings.controlSocket, maximumRate: limits.rate) {
      try await Task.sleep(for: limits.alive)
    }
    let events = RoomEvents(
      rooms: rooms, control: control, limits: limits, streams: streams)
    api.get("rooms/:room/events") { request, context in
      try await events.respond(to: request, context)
    }
    let calls = MethodCalls(
      controlSocket: settings.controlSocket, control: control, limits: limits, refusals: refusals,
      streams: streams)
    api.post("call/:method") { request, context in
      try await calls.respond(to: request, context)
    }
    let scenarios = Scenarios(directory: settings.scenarios, calls: calls)
    api.get("scenarios") { _, _ in scenarios.list() }
    api.post("simulate") { request, context in
      try await scenarios.simulate(request, context)
    }
    api.get("self") { _, context in Reply.json(MethodRoles.report(context.access)) }
    api.get("status") { _, _ in
      Reply.json([
        "streams": .integer(Int64(streams.now)), "slow": .integer(Int64(streams.closedSlow)),
        "rooms": .integer(Int64(await rooms.count)),
        "refused": .object(
          Dictionary(
            uniqueKeysWithValues: refusals.all.map { (.init($0.reason), .integer(Int64($0.count))) }
          )),
      ])
    }
    return router
  }
}
