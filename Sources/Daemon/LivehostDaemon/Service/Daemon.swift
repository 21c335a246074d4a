import ControlInterface
package import Logging
package import Prometheus
import ServiceLifecycle
package import Systemd
import UnixSignals

/// The daemon: rooms on their lanes, two sockets, and communication with the service manager.
package struct Daemon: Sendable {
  package static let version = livehostVersion

  let configuration: Configuration
  let paths: RuntimePaths
  let logger: Logger
  let notifier: ServiceNotifier
  let lostEntries: @Sendable () -> Int
  let pingJournal: (@Sendable (Heartbeat) -> Void)?
  let logLevel: SharedLogLevel
  let registry: MetricRegistry
  let readConfiguration: Configuration.Reader

  /// - Parameters:
  ///   - logLevel: the level of the running log.
  ///   - registry: the registry of the metrics.
  ///   - lostEntries: returns the number of log entries that were lost.
  ///   - pingJournal: makes the thread that writes the log show that it is alive; `nil` if there is none.
  ///   - readConfiguration: reads the configuration again, for a reload.
  package init(
    configuration: Configuration, paths: RuntimePaths, logger: Logger,
    notifier: ServiceNotifier = ServiceNotifier(),
    logLevel: SharedLogLevel, registry: MetricRegistry = MetricRegistry(),
    lostEntries: @escaping @Sendable () -> Int = { 0 },
    pingJournal: (@Sendable (Heartbeat) -> Void)? = nil,
    readConfiguration: @escaping Configuration.Reader
  ) {
    self.configuration = configuration
    self.paths = paths
    self.logger = logger
    self.notifier = notifier
    self.lostEntries = lostEntries
    self.pingJournal = pingJournal
    self.logLevel = logLevel
    self.registry = registry
    self.readConfiguration = readConfiguration
  }

  /// Runs until SIGTERM or SIGINT, or a shutdown of the task that calls it; then drains and
  /// returns.
  ///
  /// Stops from the outside in: the ingest socket first, so that nothing received is lost, then the
  /// rooms and what saves them, and only then the control socket.
  ///
  /// - Throws: what keeps the daemon from starting, in most cases a ``DaemonError``. Everything
  ///   that had started has been stopped by then.
  package func run() async throws {
    // Before there are threads, which would have to be ended if the lock is refused.
    let lock = try StateLock(paths.stateDirectory, isManaged: paths.isStateManaged)
    defer { extendLifetime(lock) }
    FreeMemory.limit()
    let parts = try DaemonParts(self)
    var quiet = Logger(label: "services")
    quiet.logLevel = .error
    let group = ServiceGroup(
      starting: [
        parts.eventLoops, parts.recordings, parts.snapshots, parts.hangMonitor, parts.work,
        parts.rooms, parts.ingest, parts.control, parts.scrub,
        parts.retentionOfRecordings, parts.watchdog, parts.signals, parts.readiness,
      ],
      stopping: [
        "readiness", "ingest", "scrub", "retention", "rooms", "recordings", "snapshots", "control",
        "hang monitor", "work", "watchdog", "signals", "event loops",
      ],
      signals: [.sigterm, .sigint], logger: quiet)
    try await group.run()
    logger.log(.serviceStopped, "livehostd stopped")
  }
}
