package import Logging
package import Platform

/// The log of a program that runs as a service or by hand: picks the destination, owns the
/// journal's thread and makes handlers for `LoggingSystem.bootstrap`.
package struct ServiceLog: Sendable {
  /// Where lines go.
  package let destination: LogDestination
  /// The level of all handlers made here; set it to change the level of the running program.
  package let level: SharedLogLevel

  private let writer: JournalWriter?

  /// Starts the journal's thread if standard error is the journal.
  ///
  /// - Parameter identifier: `SYSLOG_IDENTIFIER` of the entries.
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

  /// A handler for a logger of this label.
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

  /// Entries that never reached the journal; always none on the console.
  package var lost: LostEntries { writer?.lost ?? LostEntries() }

  /// Shows that the journal's thread is alive, by a beat on it; `nil` on the console, where there is no
  /// such thread.
  package var ping: (@Sendable (Heartbeat) -> Void)? {
    guard let writer else { return nil }
    return { heartbeat in writer.ping { heartbeat.beat() } }
  }

  /// Waits for what is queued, at most `timeoutNanoseconds`, and ends the journal's thread. The
  /// last call of the program.
  ///
  /// - Returns: Whether everything was written.
  @discardableResult
  package func close(timeoutNanoseconds: UInt64) -> Bool {
    writer?.close(timeoutNanoseconds: timeoutNanoseconds) ?? true
  }
}
