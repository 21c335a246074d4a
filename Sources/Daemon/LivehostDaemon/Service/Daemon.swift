import ControlInterface
import Dispatch
import Glibc
import Ingest
import LiveEvents
package import Logging
import NIOCore
import NIOPosix
import Platform
package import Prometheus
import Recordings
import ServiceLifecycle
package import Systemd
import UnixSockets
import Varlink

/// The daemon: rooms on their lanes, two sockets, and what the service manager is told.
///
/// Starts from the inside out (lanes, rooms, sockets, READY) and stops from the outside in: the ingest
/// socket first, so that nothing that was received is lost, the control socket last but the rooms.
package struct Daemon: ServiceLifecycle.Service {
  package static let version = livehostVersion

  private let configuration: Configuration
  private let paths: RuntimePaths
  private let logger: Logger
  private let notifier: ServiceNotifier
  private let lostEntries: @Sendable () -> Int
  private let logLevel: SharedLogLevel
  private let metrics: DaemonMetrics
  private let readConfiguration: Configuration.Reader

  /// - Parameters:
  ///   - logLevel: that of the running log.
  ///   - registry: where the metrics are made.
  ///   - lostEntries: asks for the number of log entries that were lost.
  ///   - readConfiguration: reads the configuration again, for a reload.
  package init(
    configuration: Configuration, paths: RuntimePaths, logger: Logger,
    notifier: ServiceNotifier = ServiceNotifier(),
    logLevel: SharedLogLevel, registry: MetricRegistry = MetricRegistry(),
    lostEntries: @escaping @Sendable () -> Int = { 0 },
    readConfiguration: @escaping Configuration.Reader
  ) {
    self.configuration = configuration
    self.paths = paths
    self.logger = logger
    self.notifier = notifier
    self.lostEntries = lostEntries
    self.logLevel = logLevel
    metrics = DaemonMetrics(registry: registry)
    self.readConfiguration = readConfiguration
  }

  /// Runs until it is asked to stop, then drains and returns.
  ///
  /// - Throws: ``DaemonError`` if it cannot start.
  package func run() async throws {
    // Before there are threads that would have to be ended if it is refused.
    let lock = try StateLock(paths.stateDirectory)
    defer { extendLifetime(lock) }
    let laneCount = configuration.lanes ?? max(1, System.coreCount - 1)
    let laneGroup = MultiThreadedEventLoopGroup(numberOfThreads: laneCount)
    let ioGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      try await serve(lanes: laneGroup, io: ioGroup)
    } catch {
      try? await ioGroup.shutdownGracefully()
      try? await laneGroup.shutdownGracefully()
      throw error
    }
    try await ioGroup.shutdownGracefully()
    try await laneGroup.shutdownGracefully()
  }

  private func serve(
    lanes laneGroup: MultiThreadedEventLoopGroup, io: MultiThreadedEventLoopGroup
  ) async throws {
    let sockets = try Sockets(paths)
    let description = sockets.description
    let recordings = try await openRecordings()
    let snapshots = try SnapshotStore(
      directory: paths.stateDirectory + "/rooms",
      onProblem: { [logger] problem in logger.warning("\(problem)") })
    let tasks = TaskRegistry()
    let observer: RoomObserver = { [logger] room, event in
      switch event {
      case .closed, .suspended: tasks.roomClosed(room)
      case .recordingEnded(let recorder, let end): recordings.ended(room, recorder, end)
      case .opened, .restored, .committed, .failed: break
      }
      event.log(room, to: logger)
    }
    let lanes = makeLanes(laneGroup, FaultInjection.fromEnvironment(), snapshots, observer)
    let hangs = HangFeed()
    let hangMonitor = try watchForHangs(lanes, hangs)
    let work = try WorkExecutor(width: max(1, System.coreCount - 1))
    let slots = WorkSlots(count: work.width)
    let directory = RoomDirectory(
      lanes: lanes, maximumRooms: configuration.rooms.maximumRooms, observer: observer)
    await Restoration(
      snapshots, into: directory, recordings: recordings, notifier: notifier, logger: logger
    ).run()
    for room in configuration.openRooms.compactMap(RoomName.init) {
      _ = directory.laneOpening(room)
    }
    let rejections = RejectionLog(eventLoop: io.next(), logger: logger)
    let router = EventRouter(directory: directory) { rejections.note($0, in: $1) }
    let status = DaemonStatus(
      version: Self.version, lostEntries: lostEntries,
      logLevel: { [logLevel] in logLevel.level.rawValue },
      longestSliceNanoseconds: { work.longestSliceNanoseconds },
      isLosingRooms: { snapshots.isFailing })
    let reloading = Reloading(
      configuration, logLevel: logLevel, directory: directory, notifier: notifier,
      status: "serving, \(description)", logger: logger, metrics: metrics,
      read: readConfiguration)

    let ingest = try await startIngest(sockets, io, router)
    let control: VarlinkServer
    do {
      control = try await startControl(
        sockets, io,
        LivehostControl(
          directory: directory, router: router, status: status, hangs: hangs,
          simulations: Simulations(executor: work, slots: slots), recordings: recordings,
          tasks: RoomTasks(
            registry: tasks, executor: work, slots: slots, recordings: recordings,
            directory: directory, logger: logger),
          metrics: metrics, ingest: { ingest.statistics }),
        reloading)
    } catch {
      await ingest.shutdown()
      throw error
    }
    let watchdog = try startWatchdog(lanes, status)
    let hangups = Self.onHangup { try? reloading.reloadNow() }
    let faults = FaultInjection.holdOnSignal(lanes: lanes)

    logger.log(
      .serviceStarted, "livehostd \(Self.version) is ready: \(lanes.count) lane(s), \(description)",
      metadata: ["version": "\(Self.version)", "lanes": "\(lanes.count)"])
    tell { () throws(SystemError) in try notifier.ready(status: "serving, \(description)") }
    try? await gracefulShutdown()

    tell { () throws(SystemError) in try notifier.stopping(status: "stopping") }
    let stop = LongWork(
      "stopping", notifier: notifier, unit: "events", left: { recordings.waitingEvents })
    await stop.step("taking what was sent") { await ingest.shutdown() }
    rejections.flush()
    await stop.step("drawing the last frames") { await directory.closeAll() }
    await stop.step("writing recordings") { await recordings.close() }
    await stop.step("keeping the rooms") { await snapshots.close() }
    hangs.finish()
    await control.shutdown()
    hangMonitor.stop()
    work.stop()
    watchdog?.stop()
    faults?.cancel()
    hangups.cancel()
    logger.log(.serviceStopped, "livehostd stopped")
  }

  private func watchForHangs(
    _ lanes: [HostLane], _ feed: HangFeed
  ) throws(SystemError) -> HangMonitor {
    try HangMonitor(lanes) { [logger, metrics] lane, finding in
      let ended = WallClock.milliseconds()
      let report = HangReport(finding, lane: lane.index, ended: ended)
      metrics.count(report.kind, report.reason)
      // The journal first: who saw the hang on a monitor finds it there.
      feed.add(report) { $0.log(to: logger) }
    }
  }

  /// Recovers what the last run left. A state directory that cannot be used harms nothing but
  /// recordings.
  private func openRecordings() async throws(SystemError) -> RoomRecordings {
    let library = try RecordingLibrary(
      directory: paths.stateDirectory + "/recordings",
      onProblem: { [logger] problem in logger.warning("\(problem)") })
    do throws(RecordingError) {
      try await library.open()
    } catch {
      logger.warning("recordings cannot be made: \(error.description)")
    }
    return RoomRecordings(library: library, logger: logger)
  }

  private func makeLanes(
    _ group: MultiThreadedEventLoopGroup, _ faults: FaultInjection, _ snapshots: SnapshotStore,
    _ observer: @escaping RoomObserver
  ) -> [HostLane] {
    var lanes: [HostLane] = []
    for eventLoop in group.makeIterator() {
      guard let eventLoop = eventLoop as? any EventLoop & NIOSerialEventLoopExecutor else {
        preconditionFailure("SwiftNIO's event loops are serial executors")
      }
      lanes.append(
        HostLane(
          index: lanes.count, eventLoop: eventLoop, settings: configuration.rooms,
          faults: faults, snapshots: snapshots, onTurn: metrics.noteTurns(lane: lanes.count),
          observer: observer))
    }
    return lanes
  }

  private func startIngest(
    _ sockets: Sockets, _ group: any EventLoopGroup, _ router: EventRouter
  ) async throws(DaemonError) -> IngestServer {
    var settings = IngestConfiguration()
    settings.maximumConnections = configuration.ingestConnections
    do {
      return try await IngestServer.start(
        on: sockets.ingest, group: group, configuration: settings, sink: router)
    } catch {
      throw .socket("ingest socket \(error.description)")
    }
  }

  private func startControl(
    _ sockets: Sockets, _ group: any EventLoopGroup, _ service: LivehostControl,
    _ management: Reloading
  ) async throws -> VarlinkServer {
    let access = Access()
    let managed = try ServiceManagement.makeInterface(
      service: management, mayChange: { access.mayChange($0) })
    let interface = try ControlInterface.makeInterface(
      service: service, mayChange: { access.mayChange($0) })
    var limits = VarlinkServer.Limits()
    limits.connections = configuration.controlConnections
    limits.monitors = configuration.monitors
    limits.tooManyMonitors = ControlInterface.tooManyMonitors
    do {
      return try await VarlinkServer.start(
        on: sockets.control,
        information: ServiceInformation(
          vendor: "livehost", product: "livehostd", version: Self.version,
          url: "https://livehost.example"),
        interfaces: [interface, managed], limits: limits, group: group,
        unexpectedError: { [logger] call, error in
          logger.error("\(call.interface).\(call.method) failed: \(error)")
          return nil
        })
    } catch {
      throw DaemonError.socket("control socket: \(error)")
    }
  }

  /// Calls `reload` for each SIGHUP; what it is refused for is in the log.
  private static func onHangup(
    _ reload: @escaping @Sendable () -> Void
  ) -> any DispatchSourceSignal {
    signal(SIGHUP, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
    source.setEventHandler(handler: reload)
    source.resume()
    return source
  }

  /// Feeds the watchdog, if the manager asks for that, by progress of the lanes alone.
  private func startWatchdog(
    _ lanes: [HostLane], _ status: DaemonStatus
  ) throws(SystemError) -> WatchdogThread? {
    guard let interval = try WatchdogInterval.fromEnvironment() else { return nil }
    let watched = lanes.map { lane in
      WatchedLane(name: "lane \(lane.index)") { heartbeat in
        lane.eventLoop.execute { heartbeat.beat() }
      }
    }
    return try WatchdogThread(
      WatchdogDriver(lanes: watched, notifier: notifier), interval: interval,
      onStall: { [logger] stalled in
        status.noteStall(!stalled.isEmpty)
        for lane in stalled {
          logger.error(
            "\(lane.name) made no progress for \(lane.nanoseconds / 1_000_000) ms",
            metadata: ["durationUsec": "\(lane.nanoseconds / 1000)"])
        }
      },
      onError: { [logger] error in logger.warning("the watchdog could not be fed: \(error)") })
  }

  /// The manager not listening is worth a line, not the service.
  private func tell(_ message: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try message()
    } catch {
      logger.warning("the service manager could not be told: \(error)")
    }
  }
}
