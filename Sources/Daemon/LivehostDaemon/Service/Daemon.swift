import ControlInterface
package import Logging
package import Prometheus
import Rooms
import ServiceLifecycle
package import Systemd
import UnixSignals

/// The daemon, which runs the rooms on lanes, serves two sockets and reports to the service
/// manager.
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
  ///   - lostEntries: Returns the number of journal entries that were lost.
  ///   - pingJournal: Asks the journal's thread to mark the given heartbeat as alive; `nil` if
  ///     there is no such thread.
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

  /// Runs until SIGTERM, SIGINT or a graceful shutdown of the calling task, then drains and
  /// returns.
  ///
  /// The ingest socket stops first, so that no received event is lost. The rooms stop next,
  /// followed by the recordings and snapshots that save them, and then the control socket.
  ///
  /// - Throws: The reason why the daemon cannot start, usually a ``DaemonError``. Every part that
  ///   had started is stopped before the error is thrown.
  package func run() async throws {
    // The lock is taken before any thread starts, so that nothing must be stopped if another
    // process holds it.
    let lock = try StateLock(paths.stateDirectory, isManaged: paths.isStateManaged)
    defer { extendLifetime(lock) }
    FreeMemory.limit()
    let components = try DaemonComponents(self)
    var quiet = Logger(label: "services")
    quiet.logLevel = .error
    let group = ServiceGroup(
      starting: [
        components.eventLoops, components.recordings, components.snapshots, components.hangMonitor,
        components.work,
        components.rooms, components.ingest, components.control, components.scrub,
        components.retentionOfRecordings, components.watchdog, components.signals,
        components.readiness,
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
