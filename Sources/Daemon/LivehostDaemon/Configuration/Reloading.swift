package import ControlInterface
import LiveEvents
package import Logging
import Platform
package import Systemd
import YAMLReader

/// Applies a changed configuration while the daemon runs, without dropping a connection or an
/// event.
package final class Reloading: ManagedService {
  private let read: Configuration.Reader
  private let current: Guarded<Configuration>
  private let logLevel: SharedLogLevel
  private let directory: RoomDirectory
  private let notifier: ServiceNotifier
  private let status: String
  private let logger: Logger
  private let metrics: DaemonMetrics
  private let retention: RecordingRetention?

  /// - Parameters:
  ///   - read: reads the configuration from where it was read at the start.
  ///   - status: what the service manager shows after a reload.
  package init(
    _ configuration: Configuration, logLevel: SharedLogLevel, directory: RoomDirectory,
    notifier: ServiceNotifier, status: String, logger: Logger,
    metrics: DaemonMetrics = DaemonMetrics(), retention: RecordingRetention? = nil,
    read: @escaping Configuration.Reader
  ) {
    self.read = read
    current = Guarded(configuration)
    self.logLevel = logLevel
    self.directory = directory
    self.notifier = notifier
    self.status = status
    self.logger = logger
    self.metrics = metrics
    self.retention = retention
  }

  /// - Throws: ``ReloadFailure``; the old configuration stays in force.
  package func reload() async throws { try reloadNow() }

  /// The same, for a signal.
  package func reloadNow() throws(ReloadFailure) {
    // Reload even if the service manager is not listening.
    try? notifier.reloading(status: "reading the configuration")
    defer { try? notifier.ready(status: status) }
    let new: Configuration
    do throws(ConfigurationError) {
      new = try read()
    } catch {
      metrics.countReload(succeeded: false)
      logger.log(
        .configurationError, "the configuration stays as it was: \(error)",
        metadata: error.journalFields)
      throw ReloadFailure(message: error.description)
    }
    let old = current.withLock { exchange(&$0, with: new) }
    apply(new)
    let later = Self.needingRestart(old, new)
    metrics.countReload(succeeded: true)
    let note = later.isEmpty ? "" : "; at the next start: \(later.joined(separator: ", "))"
    logger.log(
      .configurationReloaded, "the configuration was loaded again\(note)",
      metadata: later.isEmpty ? [:] : ["needsRestart": "\(later.joined(separator: " "))"])
  }

  package func setLogLevel(_ level: Int) {
    logLevel.level =
      switch level {
      case ...2: .critical
      case 3: .error
      case 4: .warning
      case 5: .notice
      case 6: .info
      case 7: .debug
      default: .trace
      }
  }

  private func apply(_ configuration: Configuration) {
    logLevel.level = configuration.logLevel
    directory.apply(configuration.rooms)
    retention?.apply(configuration.retention)
    for name in configuration.openRooms.compactMap(RoomName.init) {
      // One that is open already is as it should be.
      do throws(RoomDirectory.Refusal) { try directory.open(name) } catch {
        if error != .exists {
          logger.warning("room \(name) cannot be opened: too many are open, or the daemon stops")
        }
      }
    }
  }

  /// Keys that changed and are looked at when the daemon starts only.
  private static func needingRestart(_ old: Configuration, _ new: Configuration) -> [String] {
    var keys: [String] = []
    if old.lanes != new.lanes { keys.append("lanes") }
    if old.ingestConnections != new.ingestConnections { keys.append("ingest.connections") }
    if old.controlConnections != new.controlConnections { keys.append("control.connections") }
    if old.monitors != new.monitors { keys.append("control.monitors") }
    if old.scrubDays != new.scrubDays { keys.append("recordings.scrubDays") }
    return keys
  }
}
