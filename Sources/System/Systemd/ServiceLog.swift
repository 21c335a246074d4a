package import Logging
package import SystemSupport

/// The log of a program that runs as a service or manually. Selects the destination, owns the
/// journal's thread, and creates handlers for `LoggingSystem.bootstrap`.
package struct ServiceLog: Sendable {
  package let destination: LogDestination
  /// The level of all handlers created here, which can be changed while the program runs.
  package let level: SharedLogLevel

  private let writer: JournalWriter?

  /// Starts the journal's thread if standard error is connected to the journal, with `identifier`
  /// as the `SYSLOG_IDENTIFIER` of the entries.
  package init(
    identifier: String, level: Logger.Level, destination: LogDestination = .detect(),
    limits: JournalLimits = JournalLimits()
  ) throws(SystemError) {
    self.destination = destination
    self.level = SharedLogLevel(level)
    switch destination {
    case .journal: writer = try JournalWriter(identifier: identifier, limits: limits)
    case .console: writer = nil
    }
  }

  /// Returns a handler for a logger with this label.
  package func handler(
    label: String, metadataProvider: Logger.MetadataProvider? = nil
  ) -> any LogHandler {
    if let writer {
      JournalLogHandler(
        label: label, writer: writer, level: level, metadataProvider: metadataProvider)
    } else {
      ConsoleLogHandler(label: label, level: level, metadataProvider: metadataProvider)
    }
  }

  /// The entries that never reached the journal. On the console, no entries count as lost.
  package var lost: LostEntries { writer?.lost ?? LostEntries() }

  /// Makes the journal's thread beat a heartbeat, to show that the thread is alive. `nil` on the
  /// console, which has no such thread.
  package var ping: (@Sendable (Heartbeat) -> Void)? {
    guard let writer else { return nil }
    return { heartbeat in writer.ping { heartbeat.beat() } }
  }

  /// Writes the queued entries, for at most `timeoutNanoseconds`, and ends the journal's thread.
  /// Must be the last call of the program. Returns whether everything was written.
  @discardableResult
  package func close(timeoutNanoseconds: UInt64) -> Bool {
    writer?.close(timeoutNanoseconds: timeoutNanoseconds) ?? true
  }
}
