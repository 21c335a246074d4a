package import ControlInterface
import LiveEvents
import Locking
package import Logging
package import Rooms
import SystemSupport
package import Systemd
import YAMLReader

/// Applies a changed configuration while the daemon runs, without losing connections or events.
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

  /// - Parameter status: The status that the service manager shows after a reload.
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

  /// Reads and applies the configuration. Throws ``ReloadFailure`` if the new configuration is
  /// invalid; the old one stays in effect.
  package func reload() async throws { try reloadNow() }

  /// Does the same as ``reload()`` without suspending, for the handler of SIGHUP.
  package func reloadNow() throws(ReloadFailure) {
    // The reload continues even if the service manager cannot be notified.
    try? notifier.reloading(status: "reading the configuration")
    defer { try? notifier.ready(status: status) }
    let new: Configuration
    do throws(ConfigurationError) {
      new = try read()
    } catch {
      metrics.countReload(succeeded: false)
      logger.log(
        .configurationError,
        "the configuration is unchanged, because the new one is invalid: \(error)",
        metadata: error.journalFields)
      throw ReloadFailure(message: error.description)
    }
    let old = current.withLock { exchange(&$0, with: new) }
    apply(new)
    let later = Self.needingRestart(old, new)
    metrics.countReload(succeeded: true)
    let keys = later.joined(separator: ", ")
    let note = later.isEmpty ? "" : "; these keys take effect at the next start: \(keys)"
    logger.log(
      .configurationReloaded, "the configuration was reloaded\(note)",
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
      // A room that is already open needs no change.
      do throws(RoomDirectory.Refusal) { try directory.open(name) } catch {
        if error != .exists {
          logger.warning(
            "room \(name) cannot be opened: too many rooms are open, or the daemon is stopping")
        }
      }
    }
  }

  /// Returns the changed keys that take effect only after a restart of the daemon.
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
