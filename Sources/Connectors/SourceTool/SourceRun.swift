import Glibc
package import LiveEvents
package import LiveSources
import MediaServers
import NIOCore
import NIOPosix
import ObsStudio
import SocialStream
import SystemSupport
import TwitchChat
import TwitchEvents
import Webhooks
import Wording

/// The progress of a source, for people and programs that run it in the foreground.
package struct SourceProgress: Equatable, Sendable {
  package var state = SourceHealth.Connection.connecting
  package var reason: String?
  /// The numbers of lines that were received from the platform, that the daemon has acknowledged,
  /// and that it has not acknowledged yet.
  package var received = 0
  package var delivered = 0
  package var waiting = 0
  package var duplicates = 0
  /// The number of refused requests, if the source serves requests.
  package var refused = 0
  package var gaps = 0
  package var gapMilliseconds = 0
  package var hasDaemon = false

  package init() {}
}

/// Runs one source from its start to its end.
package struct SourceRun: Sendable {
  package enum Report: Equatable, Sendable {
    case status(channel: String, SourceHealth.Connection, reason: String?)
    case gap(channel: String, SourceGap)
    /// Sent every second.
    case progress(SourceProgress)
  }

  /// How long the daemon may take to acknowledge the last lines after the source was asked to end.
  private static let farewell = TimeAmount.seconds(3)

  private let configuration: SourceConfiguration
  private let sockets: DaemonSockets
  private let name: String
  private let credentials: String?
  private let state: String?
  private let report: @Sendable (Report) -> Void

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - name: The name of the source, as shown in rooms.
  ///   - credentials: The directory of the service manager's credentials, if there is one.
  ///   - state: The directory for persistent state, if there is one.
  package init(
    _ configuration: SourceConfiguration, name: String, credentials: String?, state: String?,
    report: @escaping @Sendable (Report) -> Void
  ) {
    self.configuration = configuration
    sockets = .find(ingest: configuration.ingest, control: configuration.control)
    self.name = name
    self.credentials = credentials
    self.state = state
    self.report = report
  }

  /// Runs until the task is cancelled, delivers the lines received by then, and returns. Throws
  /// ``SourceError``.
  package func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      try await run(on: group.next())
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
  }

  private func run(on loop: any EventLoop) async throws {
    let ended = loop.makePromise(of: Void.self)
    let sources: NIOLoopBound<RunningSources>
    do {
      sources = try await loop.submit {
        NIOLoopBound(try begin(loop, ended), eventLoop: loop)
      }.get()
    } catch {
      ended.fail(error)
      throw error
    }
    try await withTaskCancellationHandler {
      try await ended.futureResult.get()
    } onCancel: {
      loop.execute { sources.value.finish() }
    }
  }

  private func delivery(
    _ name: String, _ kind: SourceConfiguration.Kind, _ loop: any EventLoop
  ) -> SourceDelivery {
    var settings = SourceDelivery.Settings(
      path: sockets.ingest, source: name, platform: kind.rawValue, room: configuration.room)
    settings.eventPlatform = kind.platform
    settings.maximumBytes = configuration.bufferMebibytes << 20
    settings.patience = configuration.patience
    // The batch numbers are unique to this run: no later run sends the lines that this run leaves
    // undelivered.
    let session = "\(name)/\(getpid())-\(WallClock.milliseconds())"
    return SourceDelivery(settings, session: session, eventLoop: loop)
  }

  private func begin(
    _ loop: any EventLoop, _ ended: EventLoopPromise<Void>
  ) throws(SourceError) -> RunningSources {
    let kind = configuration.kind ?? .twitch
    let delivery = delivery(name, kind, loop)
    var sources: [any LiveSource] = []
    switch kind {
    case .twitch:
      let options = configuration.twitch
      sources = [
        TwitchSource(
          try configuration.twitchSettings(credentials: credentials), address: options.server,
          security: options.usesTLS ? try PeerSecurity(certificates: options.certificates) : nil,
          history: try history(options.history),
          delivery: delivery, eventLoop: loop)
      ]
      if options.readsEvents {
        sources.append(
          try eventSub(self.delivery("\(name)-events", kind, loop), on: loop))
      }
    case .eventsub: sources = [try eventSub(delivery, on: loop)]
    case .obs:
      sources = [
        ObsSource(
          try configuration.obsSettings(credentials: credentials),
          address: configuration.obs.server, delivery: delivery, control: sockets.control,
          eventLoop: loop)
      ]
    case .nginxRTMP, .mediaMTX, .owncast:
      guard let server = kind.server, let address = configuration.server.address else {
        throw .refused("no server address is configured")
      }
      let security = address.isEncrypted ? try PeerSecurity() : nil
      let acts = kind == .owncast ? try configuration.owncastActs(credentials: credentials) : nil
      var watched = delivery
      if kind == .owncast, configuration.webhook.listen != nil {
        guard let mapping = try? WebhookMapping.owncast() else {
          throw .refused("the mapping of Owncast's webhooks is invalid")
        }
        sources = [try webhooks(mapping, delivery, on: loop)]
        watched = self.delivery("\(name)-status", kind, loop)
      }
      sources.append(
        ServerSource(
          server, address: address, stream: configuration.server.stream, security: security,
          acts: acts, requests: acts.map { _ in requests(kind, on: loop) }, delivery: watched,
          eventLoop: loop))
    case .webhook:
      guard let mapping = configuration.webhook.mapping else {
        throw .refused("no webhook mapping is configured")
      }
      sources = [try webhooks(mapping, delivery, on: loop)]
    case .socialStream:
      let server = configuration.socialStream.server
      guard let address = server ?? HTTPAddress(SocialStreamSource.server, .webSocket) else {
        throw .refused("no address of Social Stream Ninja is configured")
      }
      sources = [
        SocialStreamSource(
          session: try configuration.socialStreamSession(credentials: credentials),
          server: address, security: address.isEncrypted ? try PeerSecurity() : nil,
          acts: configuration.acts ?? SocialStreamSession.acts, requests: requests(kind, on: loop),
          delivery: delivery, eventLoop: loop)
      ]
    }
    let running = RunningSources(sources, eventLoop: loop, report: report, ended: ended)
    running.start()
    return running
  }

  /// Returns the receiver of a room's acts. `room` is the room of the source's events if no room is
  /// configured.
  private func requests(
    _ kind: SourceConfiguration.Kind, in room: RoomName = .main, on loop: any EventLoop
  ) -> RoomRequests {
    RoomRequests(
      RoomRequests.Settings(
        path: sockets.control, room: configuration.room ?? room, platform: kind.platform,
        source: name),
      eventLoop: loop)
  }

  private func webhooks(
    _ mapping: WebhookMapping, _ delivery: SourceDelivery, on loop: any EventLoop
  ) throws(SourceError) -> WebhookSource {
    guard let address = configuration.webhook.listen else {
      throw .refused("no listening address is configured")
    }
    return WebhookSource(
      mapping, address: address, gate: try configuration.webhookGate(credentials: credentials),
      delivery: delivery, eventLoop: loop)
  }

  private func history(_ address: HTTPAddress?) throws(SourceError) -> ChatHistory? {
    guard let address else { return nil }
    return ChatHistory(address, security: address.isEncrypted ? try PeerSecurity() : nil)
  }

  private func eventSub(
    _ delivery: SourceDelivery, on loop: any EventLoop
  ) throws(SourceError) -> EventSubSource {
    let options = configuration.twitch
    let servers = EventSubSettings.Servers()
    guard let login = try configuration.twitchLogin(credentials: credentials, state: state)
    else {
      throw .refused("Twitch's events require a login; run livehostctl login twitch")
    }
    guard let events = options.eventsURL ?? HTTPAddress(servers.events, .webSocket),
      let api = options.api ?? HTTPAddress(servers.api),
      let logins = options.logins ?? HTTPAddress(servers.logins)
    else { throw .refused("no address of Twitch is configured") }
    var settings = EventSubSettings(channel: options.channels.first ?? "", address: events)
    settings.acts = configuration.acts ?? settings.acts
    let room = EventSubSource.room(configuration.room, settings.channel)
    return EventSubSource(
      settings, login: login, api: api, logins: logins,
      security: try PeerSecurity(certificates: options.certificates), delivery: delivery,
      requests: requests(.eventsub, in: room, on: loop), eventLoop: loop)
  }

  /// The running sources and their deliveries, on their event loop. When the first source ends, all
  /// end.
  private final class RunningSources {
    private let sources: [any LiveSource]
    private let eventLoop: any EventLoop
    private let report: @Sendable (Report) -> Void
    private let ended: EventLoopPromise<Void>
    private var progress = SourceProgress()
    private var states: [String: SourceHealth.Connection] = [:]
    private var isEnding = false

    init(
      _ sources: [any LiveSource], eventLoop: any EventLoop,
      report: @escaping @Sendable (Report) -> Void, ended: EventLoopPromise<Void>
    ) {
      self.sources = sources
      self.eventLoop = eventLoop
      self.report = report
      self.ended = ended
    }

    func start() {
      for (index, source) in sources.enumerated() {
        // Two sources may read the same channel.
        let suffix = index == 0 ? "" : " (events)"
        source.events.changed = { [unowned self] channel, status in
          states[channel + suffix] = status.state
          progress.state = states.values.contains(.connecting) ? .connecting : status.state
          progress.reason = status.reason
          report(.status(channel: channel + suffix, status.state, reason: status.reason))
        }
        source.events.missed = { [unowned self] channel, gap in
          progress.gaps += 1
          progress.gapMilliseconds += gap.to - gap.from
          report(.gap(channel: channel + suffix, gap))
        }
        source.events.failed = { [unowned self] error in
          if index == 0 { finish(with: error) } else { source.stop() }
        }
        source.delivery.failed = { [unowned self] error in finish(with: error) }
        source.delivery.start()
        source.start()
      }
      tick()
    }

    private func tick() {
      guard !isEnding else { return }
      progress.received = sources.reduce(0) { $0 + $1.forwarded }
      progress.delivered = sources.reduce(0) { $0 + $1.delivery.delivered }
      progress.waiting = sources.reduce(0) { $0 + $1.delivery.waiting }
      progress.duplicates = sources.reduce(0) { $0 + $1.duplicates }
      progress.refused = sources.reduce(0) { $0 + $1.refused }
      progress.hasDaemon = sources.allSatisfy(\.delivery.isConnected)
      report(.progress(progress))
      eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { self.tick() }
    }

    /// Ends the run: stops reading immediately, and waits until the daemon has acknowledged every
    /// line. `error` is the reason, or `nil` if the run was asked to end.
    func finish(with error: SourceError? = nil) {
      guard !isEnding else { return }
      isEnding = true
      for source in sources { source.stop() }
      let ended = ended
      let deliveries = sources.map { $0.delivery.finish(within: SourceRun.farewell) }
      EventLoopFuture.andAllComplete(deliveries, on: eventLoop).assumeIsolated().whenComplete {
        _ in if let error { ended.fail(error) } else { ended.succeed() }
      }
    }
  }
}
