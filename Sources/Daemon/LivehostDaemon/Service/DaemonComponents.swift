import ControlInterface
import Glibc
import Ingest
import LiveEvents
import Locking
import Logging
import NIOCore
import NIOPosix
import Prometheus
import Recordings
import Rooms
import SystemSupport
import Systemd
import UnixSignals
import UnixSockets
import Varlink

/// The parts of the daemon, and how to start and stop each of them.
///
/// ``Daemon/run()`` determines the order.
final class DaemonComponents: Sendable {
  private let daemon: Daemon
  private let sockets: Sockets
  private let laneGroup: MultiThreadedEventLoopGroup
  /// Each socket has a dedicated event loop, so that work for one socket never delays the other.
  private let ingestGroup: MultiThreadedEventLoopGroup
  private let controlGroup: MultiThreadedEventLoopGroup
  private let snapshotStore: SnapshotStore
  private let library: RecordingLibrary
  private let roomRecordings: RoomRecordings
  private let executor: WorkExecutor
  private let slots: WorkSlots
  private let tasks: TaskRegistry
  private let metrics: DaemonMetrics
  private let lanes: [HostLane]
  private let directory: RoomDirectory
  private let rejections: RejectionLog
  private let router: EventRouter
  private let hangs = HangFeed()
  private let status: DaemonStatus
  private let reloading: Reloading
  private let retention: RecordingRetention
  private let faults: FaultInjection
  private let ingestServer: Server<IngestServer>
  private let controlServer: Server<VarlinkServer>
  private let refusals: @Sendable () -> RefusalCounts
  /// Reports the progress of the stop to the service manager.
  private let stopping: LongWork

  private var logger: Logger { daemon.logger }
  private var configuration: Configuration { daemon.configuration }
  private var notifier: ServiceNotifier { daemon.notifier }

  /// Binds the sockets and creates the parts, without starting anything except the recorder's
  /// thread.
  init(_ daemon: Daemon) throws {
    self.daemon = daemon
    let (configuration, logger, paths) = (daemon.configuration, daemon.logger, daemon.paths)
    let warn: @Sendable (String) -> Void = { logger.warning("\($0)") }
    sockets = try Sockets(paths)
    let snapshots = try SnapshotStore(directory: paths.stateDirectory + "/rooms", onProblem: warn)
    // Creating the library must be the last step that can fail, because it starts a thread.
    let library = try RecordingLibrary(
      directory: paths.stateDirectory + "/recordings", log: paths.stateDirectory + "/log",
      onProblem: warn)

    let recordings = RoomRecordings(library: library, logger: logger)
    let tasks = TaskRegistry()
    let metrics = DaemonMetrics(registry: daemon.registry)
    let faults = FaultInjection.fromEnvironment()
    let executor = WorkExecutor(width: max(1, System.coreCount - 1))
    let laneGroup = MultiThreadedEventLoopGroup(
      numberOfThreads: configuration.lanes ?? Configuration.defaultLanes(cores: System.coreCount))
    let ingestGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let controlGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let observer: RoomObserver = { room, event in
      switch event {
      case .closed, .suspended:
        tasks.roomClosed(room)
        recordings.forgetFailure(of: room)
      case .opened, .restored, .hibernated, .woken, .committed, .acted, .failed: break
      }
      event.log(room, to: logger)
    }
    lanes = laneGroup.makeIterator().enumerated().map { index, eventLoop in
      guard let eventLoop = eventLoop as? any EventLoop & NIOSerialEventLoopExecutor else {
        preconditionFailure("SwiftNIO's event loops are serial executors")
      }
      return HostLane(
        index: index, eventLoop: eventLoop, settings: configuration.rooms, faults: faults,
        snapshots: snapshots, library: library, recordings: recordings, work: executor,
        onTurn: metrics.recordTurns(lane: index),
        observer: observer)
    }
    directory = RoomDirectory(
      lanes: lanes, maximumRooms: configuration.rooms.maximumRooms, observer: observer)
    let rejections = RejectionLog(eventLoop: ingestGroup.next(), logger: logger)
    let (ingestServer, controlServer) = (Server<IngestServer>(), Server<VarlinkServer>())
    let refusals: @Sendable () -> RefusalCounts = {
      var counts = controlServer.withLock { $0?.refusals } ?? RefusalCounts()
      if let ingest = ingestServer.withLock({ $0?.refusals }) { counts.add(ingest) }
      return counts
    }
    self.refusals = refusals
    self.ingestServer = ingestServer
    self.controlServer = controlServer
    router = EventRouter(directory: directory) { rejections.record($0, in: $1) }
    status = DaemonStatus(
      version: Daemon.version, lostEntries: daemon.lostEntries,
      logLevel: { [logLevel = daemon.logLevel] in logLevel.level.rawValue },
      longestSliceNanoseconds: { executor.longestSliceNanoseconds },
      problems: { recordings.problems + snapshots.problems }, refusals: refusals,
      remarks: { rejections.remarks })
    let retention = RecordingRetention(
      recordings, of: directory, limits: configuration.retention, metrics: metrics,
      roomsAside: { Set(snapshots.roomsAside.map(\.room)) })
    self.retention = retention
    reloading = Reloading(
      configuration, logLevel: daemon.logLevel, directory: directory, notifier: daemon.notifier,
      status: "serving, \(sockets.description)", logger: logger, metrics: metrics,
      retention: retention, read: daemon.readConfiguration)
    stopping = LongWork(
      "stopping", notifier: daemon.notifier, unit: "steps",
      left: { recordings.waitingSteps })
    self.laneGroup = laneGroup
    self.ingestGroup = ingestGroup
    self.controlGroup = controlGroup
    self.rejections = rejections
    self.executor = executor
    slots = WorkSlots(count: executor.width)
    self.faults = faults
    self.metrics = metrics
    self.tasks = tasks
    self.library = library
    roomRecordings = recordings
    snapshotStore = snapshots
  }

  // MARK: Rooms

  var eventLoops: ServiceComponent {
    ServiceComponent("event loops") { [self] in
      // This part starts first, and the service group traps these signals before it starts any
      // part.
      EarlySignals.resend(SIGTERM, SIGINT)
      return {
        try? await self.ingestGroup.shutdownGracefully()
        try? await self.controlGroup.shutdownGracefully()
        try? await self.laneGroup.shutdownGracefully()
      }
    }
  }

  /// Recovers the recordings from before the restart. An unusable state directory affects only
  /// recordings.
  var recordings: ServiceComponent {
    ServiceComponent("recordings") { [self] in
      let starting = LongWork(
        "starting", notifier: notifier, unit: "KiB",
        left: { [roomRecordings] in roomRecordings.bytesToRecover >> 10 })
      let path = daemon.paths.stateDirectory
      try await starting.step("converting the state of an earlier version") {
        do throws(RecordingError) {
          try await snapshotStore.convertEarlierState(in: library)
        } catch {
          throw DaemonError.stateDirectory(
            path, "cannot convert the state of an earlier version: \(error)")
        }
      }
      await starting.step("reading recordings") { await roomRecordings.open() }
      return {
        await self.stopping.step("writing recordings") { await self.roomRecordings.close() }
      }
    }
  }

  var snapshots: ServiceComponent {
    ServiceComponent("snapshots") { [self] in
      try snapshotStore.start()
      return { await self.stopping.step("saving the rooms") { await self.snapshotStore.close() } }
    }
  }

  var rooms: ServiceComponent {
    ServiceComponent("rooms") { [self] in
      await Restoration(
        snapshotStore, library, into: directory, recordings: roomRecordings, notifier: notifier,
        logger: logger
      ).run()
      for room in configuration.openRooms.compactMap(RoomName.init) {
        _ = directory.laneOpening(room)
      }
      return {
        await self.stopping.step("drawing the last frames") { await self.directory.closeAll() }
      }
    }
  }

  // MARK: Sockets

  /// Whether a peer is root or the service's user, for whom some connections are reserved.
  private var isOwner: @Sendable (Peer) -> Bool {
    let user = geteuid()
    return { $0.userID == 0 || $0.userID == user }
  }

  var ingest: ServiceComponent {
    ServiceComponent("ingest") { [self] in
      var settings = IngestConfiguration()
      settings.maximumConnections = configuration.ingestConnections
      settings.hasReserve = isOwner
      // The permissions of an inherited socket are set by the socket unit, which an administrator
      // can change.
      if !sockets.isIngestInherited {
        let access = Access()
        settings.maySend = { access.mayChange($0) }
      }
      let server: IngestServer
      do throws(ListeningSocketError) {
        server = try await IngestServer.start(
          on: sockets.ingest, group: ingestGroup, configuration: settings, sink: router)
      } catch {
        throw DaemonError.socket("ingest socket \(error.description)")
      }
      ingestServer.withLock { $0 = server }
      return {
        await self.stopping.step("reading the events that are still in the sockets") {
          await server.shutdown()
        }
        self.rejections.flush()
      }
    }
  }

  var control: ServiceComponent {
    ServiceComponent("control") { [self] in
      let access = Access()
      let managed = try ServiceManagement.makeInterface(
        service: reloading, mayChange: { access.mayChange($0) })
      let service = controlService()
      let interface = try ControlInterface.makeInterface(
        service: service, mayChange: { access.mayChange($0) })
      let replication = try RoomReplication(directory: directory, service: service)
        .makeInterface(mayChange: { access.mayChange($0) })
      let limits = VarlinkServer.Limits(
        configuration, hasRights: { access.mayChange($0) }, hasReserve: isOwner)
      let server: VarlinkServer
      do {
        server = try await VarlinkServer.start(
          on: sockets.control,
          information: ServiceInformation(
            vendor: "livehost", product: "livehostd", version: Daemon.version,
            url: "https://livehost.example"),
          interfaces: [interface, managed, replication], limits: limits, group: controlGroup,
          unexpectedError: { [logger] call, error in
            logger.error("\(call.interface).\(call.method) failed: \(error)")
            return nil
          })
      } catch {
        throw DaemonError.socket("control socket: \(error)")
      }
      controlServer.withLock { $0 = server }
      let log = RefusalLog(logger: logger) { [refusals] in refusals() }
      log.start(on: controlGroup.next())
      let eventLoop = controlGroup.next()
      let counting = eventLoop.scheduleRepeatedAsyncTask(
        initialDelay: .zero, delay: .seconds(1)
      ) { _ in
        eventLoop.makeFutureWithTask { await service.countReceived() }
      }
      return {
        counting.cancel()
        self.hangs.finish()
        await server.shutdown()
        log.stop()
      }
    }
  }

  private func controlService() -> LivehostControl {
    LivehostControl(
      directory: directory, router: router, status: status, hangs: hangs,
      simulations: Simulations(executor: executor, slots: slots), recordings: roomRecordings,
      tasks: RoomTasks(
        registry: tasks, executor: executor, slots: slots, recordings: roomRecordings,
        directory: directory, logger: logger),
      metrics: metrics,
      ingest: { self.ingestServer.withLock { $0?.statistics } ?? IngestServer.Statistics() })
  }

  // MARK: Threads that watch and work

  var hangMonitor: ServiceComponent {
    ServiceComponent("hang monitor") { [self] in
      let monitor = try HangMonitor(lanes) { [logger, metrics, hangs] lane, finding in
        let ended = WallClock.milliseconds()
        let report = HangReport(finding, lane: lane.index, ended: ended)
        metrics.count(report.kind, report.reason)
        // The journal is written first, so that a client that sees a hang can find it there.
        hangs.add(report) { $0.log(to: logger) }
      }
      return { monitor.stop() }
    }
  }

  var work: ServiceComponent {
    ServiceComponent("work") { [executor, logger] in
      try executor.start { error in
        logger.warning(
          """
          simulations, analyses and replays compete with rooms and connections for processors, \
          because their priority cannot be lowered: \(error)
          """
        )
      }
      return { executor.stop() }
    }
  }

  var scrub: ServiceComponent {
    ServiceComponent("scrub") { [self] in
      metrics.recordScrubInterval(days: configuration.scrubDays)
      guard configuration.scrubDays > 0 else { return {} }
      let scrub = RecordingScrub(
        roomRecordings, slots: slots, days: configuration.scrubDays, metrics: metrics)
      return ServiceComponent.cancelling(
        Task(executorPreference: executor) { try? await scrub.run() })
    }
  }

  var retentionOfRecordings: ServiceComponent {
    ServiceComponent("retention") { [self] in
      ServiceComponent.cancelling(
        Task(executorPreference: executor) { [retention] in await retention.run() })
    }
  }

  /// Checks that every thread that others wait for makes progress.
  ///
  /// If the service manager has set a watchdog interval, notifies its watchdog only while all
  /// threads make progress.
  var watchdog: ServiceComponent {
    ServiceComponent("watchdog") { [self] in
      let interval = try WatchdogInterval.fromEnvironment()
      let watch = Guarded(StallWatch(interval))
      let thread = try WatchdogThread(
        WatchdogDriver(
          threads: WatchedThread.all(
            lanes: lanes,
            connections: ["ingest": ingestGroup.next(), "control": controlGroup.next()],
            roomRecordings, snapshotStore, pingJournal: daemon.pingJournal),
          notifier: interval.map { _ in notifier }),
        interval: interval,
        onSilence: { [logger, status, roomRecordings, lanes] silent in
          let (stalled, mentioned) = watch.withLock { $0.update(silent) }
          status.setStalled(stalled)
          roomRecordings.note(stalled: stalled, on: lanes)
          for thread in mentioned {
            logger.error(
              "\(thread.name) made no progress for \(thread.nanoseconds / 1_000_000) ms",
              metadata: ["durationUsec": "\(thread.nanoseconds / 1000)"])
          }
        },
        onError: { [logger] error in
          logger.warning("systemd's watchdog could not be notified: \(error)")
        })
      return { thread.stop() }
    }
  }

  // MARK: Signals and the service manager

  /// Reloads the configuration on SIGHUP, and holds a lane on SIGUSR2 if a test has enabled this.
  var signals: ServiceComponent {
    ServiceComponent("signals") { [self] in
      let trapped: [UnixSignal] = faults.laneHold == nil ? [.sighup] : [.sighup, .sigusr2]
      let signals = await UnixSignalsSequence(trapping: trapped)
      EarlySignals.resend(SIGHUP)
      let task = Task {
        for await signal in signals {
          // The reload logs its own failure.
          if signal == .sighup { try? reloading.reloadNow() } else { faults.holdLane(lanes) }
        }
      }
      return { task.cancel() }
    }
  }

  var readiness: ServiceComponent {
    ServiceComponent("readiness") { [self] in
      let version = Daemon.version
      logger.log(
        .serviceStarted,
        "livehostd \(version) is ready: \(lanes.count) lane(s), \(sockets.description)",
        metadata: ["version": "\(version)", "lanes": "\(lanes.count)"])
      notify { [self] () throws(SystemError) in
        try notifier.ready(status: "serving, \(sockets.description)")
      }
      return {
        self.notify { () throws(SystemError) in
          try self.notifier.stopping(status: "stopping")
        }
      }
    }
  }

  /// Notifies the service manager; logs a failure without stopping the daemon.
  private func notify(_ message: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try message()
    } catch {
      logger.warning("the service manager could not be notified: \(error)")
    }
  }
}
