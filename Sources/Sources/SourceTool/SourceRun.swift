import Glibc
import IngestServers
package import LiveEvents
package import LiveSources
import NIOCore
import NIOPosix
import ObsStudio
import Platform
import TwitchChat
import Wording

/// How a source is doing, for people and programs that watch it in the foreground.
package struct SourceProgress: Equatable, Sendable {
  package var state = SourceHealth.Connection.connecting
  package var reason: String?
  /// Lines taken from the platform, acknowledged by the daemon, and waiting for it.
  package var received = 0
  package var delivered = 0
  package var waiting = 0
  package var duplicates = 0
  package var gaps = 0
  package var gapMilliseconds = 0
  package var hasDaemon = false

  package init() {}
}

/// One source from its start to its end.
package struct SourceRun: Sendable {
  /// What is told while it runs.
  package enum Report: Equatable, Sendable {
    case status(channel: String, SourceHealth.Connection, reason: String?)
    case gap(channel: String, SourceGap)
    /// Each second.
    case progress(SourceProgress)
  }

  /// How long the daemon may take for the last lines when the source is asked to end.
  private static let farewell = TimeAmount.seconds(3)

  private let configuration: SourceConfiguration
  private let name: String
  private let credentials: String?
  private let report: @Sendable (Report) -> Void

  /// - Parameters:
  ///   - name: of the source, as shown in rooms.
  ///   - credentials: the directory of the service manager's credentials, if there is one.
  package init(
    _ configuration: SourceConfiguration, name: String, credentials: String?,
    report: @escaping @Sendable (Report) -> Void
  ) {
    self.configuration = configuration
    self.name = name
    self.credentials = credentials
    self.report = report
  }

  /// Runs until the task is cancelled, which delivers what was received and returns; or throws
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
    let source: NIOLoopBound<RunningSource>
    do {
      source = try await loop.submit {
        NIOLoopBound(try begin(loop, ended), eventLoop: loop)
      }.get()
    } catch {
      ended.fail(error)
      throw error
    }
    try await withTaskCancellationHandler {
      try await ended.futureResult.get()
    } onCancel: {
      loop.execute { source.value.finish() }
    }
  }

  private func begin(
    _ loop: any EventLoop, _ ended: EventLoopPromise<Void>
  ) throws(SourceError) -> RunningSource {
    let kind = configuration.kind ?? .twitch
    var settings = Delivery.Settings(
      path: configuration.ingest, source: name, platform: kind.rawValue, room: configuration.room)
    settings.maximumBytes = configuration.bufferMebibytes << 20
    settings.patience = configuration.patience
    // Positions are those of this run: what it has not delivered when it ends, nobody sends again.
    let session = "\(name)/\(getpid())-\(WallClock.milliseconds())"
    let delivery = Delivery(settings, session: session, eventLoop: loop)
    let source: any LiveSource
    switch kind {
    case .twitch:
      let options = configuration.twitch
      source = TwitchSource(
        try configuration.twitchSettings(credentials: credentials), address: options.server,
        security: options.usesTLS ? try PeerSecurity(certificates: options.certificates) : nil,
        delivery: delivery, eventLoop: loop)
    case .obs:
      source = ObsSource(
        try configuration.obsSettings(credentials: credentials),
        address: configuration.obs.server, delivery: delivery, control: configuration.control,
        eventLoop: loop)
    case .nginxRTMP, .mediaMTX, .owncast:
      guard let server = kind.server, let address = configuration.server.address else {
        throw .refused("no address of a server is given")
      }
      source = ServerSource(
        server, address: address,
        stream: configuration.server.stream,
        security: address.isEncrypted ? try PeerSecurity() : nil,
        delivery: delivery, eventLoop: loop)
    }
    let running = RunningSource(
      source: source, delivery: delivery, eventLoop: loop, report: report, ended: ended)
    running.start()
    return running
  }

  /// A source and its way to the daemon, on their event loop.
  private final class RunningSource {
    private let source: any LiveSource
    private let delivery: Delivery
    private let eventLoop: any EventLoop
    private let report: @Sendable (Report) -> Void
    private let ended: EventLoopPromise<Void>
    private var progress = SourceProgress()
    private var states: [String: SourceHealth.Connection] = [:]
    private var isEnding = false

    init(
      source: any LiveSource, delivery: Delivery, eventLoop: any EventLoop,
      report: @escaping @Sendable (Report) -> Void, ended: EventLoopPromise<Void>
    ) {
      self.source = source
      self.delivery = delivery
      self.eventLoop = eventLoop
      self.report = report
      self.ended = ended
    }

    func start() {
      source.events.changed = { [unowned self] channel, status in
        states[channel] = status.state
        progress.state = states.values.contains(.connecting) ? .connecting : status.state
        progress.reason = status.reason
        report(.status(channel: channel, status.state, reason: status.reason))
      }
      source.events.missed = { [unowned self] channel, gap in
        progress.gaps += 1
        progress.gapMilliseconds += gap.to - gap.from
        report(.gap(channel: channel, gap))
      }
      source.events.failed = { [unowned self] error in finish(with: error) }
      delivery.failed = { [unowned self] error in finish(with: error) }
      delivery.start()
      source.start()
      tick()
    }

    private func tick() {
      guard !isEnding else { return }
      progress.received = source.forwarded
      progress.delivered = delivery.delivered
      progress.waiting = delivery.waiting
      progress.duplicates = source.duplicates
      progress.hasDaemon = delivery.isConnected
      report(.progress(progress))
      eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { self.tick() }
    }

    /// Ends: at once for the platform, once everything is delivered for the daemon.
    ///
    /// - Parameter error: why it has ended by itself; `nil` if it was asked to.
    func finish(with error: SourceError? = nil) {
      guard !isEnding else { return }
      isEnding = true
      source.stop()
      let ended = ended
      delivery.finish(within: SourceRun.farewell).assumeIsolated().whenComplete { _ in
        if let error { ended.fail(error) } else { ended.succeed() }
      }
    }
  }
}
