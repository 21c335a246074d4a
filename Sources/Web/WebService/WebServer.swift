import HTTPTypes
import Hummingbird
import JSON
package import Logging
import NIOCore
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
    package var limits = Limits()

    package init(address: Address, controlSocket: String) {
      (self.address, self.controlSocket) = (address, controlSocket)
    }
  }

  package enum Address: Sendable, Equatable {
    case loopback(port: Int)
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
    let application = Application(
      router: router(names),
      server: .http1(
        configuration: .init(
          idleTimeout: TimeAmount(limits.requestTimeout),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 64))),
      configuration: configuration,
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? 0
        names.setPort(port)
        onListening(port)
      }, logger: logger)
    try await application.runService()
  }

  private var address: BindAddress {
    switch settings.address {
    case .loopback(let port): .hostname("127.0.0.1", port: port)
    case .socket(let path): .unixDomainSocket(path: path)
    }
  }

  private func router(_ names: HostNames) -> Router<WebContext> {
    let (limits, refusals, streams) = (settings.limits, PageRefusalCounts(), StreamCounts())
    let router = Router(context: WebContext.self)
    router.add(middleware: SecurityHeaders())
    router.add(
      middleware: RequestGuard(names: names, tokens: settings.tokens, refusals: refusals))
    let page = PageFiles(PageFiles.embedded)
    router.get("/") { request, _ in page.document("index.html", request) }
    router.get("/overlay/:part") { request, _ in page.document("overlay.html", request) }
    router.get("/assets/:version/:name") { request, context in
      page.asset(
        try context.parameters.require("version"), try context.parameters.require("name"), request)
    }
    let rooms = WatchedRooms(controlSocket: settings.controlSocket, maximumRate: limits.rate) {
      try await Task.sleep(for: limits.alive)
    }
    let events = RoomEvents(rooms: rooms, limits: limits, streams: streams)
    router.get("/api/rooms/:room/events") { request, context in
      try await events.respond(to: request, context)
    }
    let calls = MethodCalls(
      controlSocket: settings.controlSocket, limits: limits, refusals: refusals)
    router.post("/api/call/:method") { request, context in
      try await calls.respond(to: request, context)
    }
    let scenarios = Scenarios(directory: settings.scenarios, calls: calls)
    router.get("/api/scenarios") { _, _ in scenarios.list() }
    router.post("/api/simulate") { request, context in
      try await scenarios.simulate(request, context)
    }
    router.get("/api/status") { _, _ in
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
