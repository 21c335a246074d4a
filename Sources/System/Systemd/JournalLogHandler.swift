package import Logging

/// A swift-log handler that writes structured journal entries through a ``JournalWriter``. Logging
/// never waits for journald.
///
/// Metadata become fields `LIVEHOST_...` (`room` is `LIVEHOST_ROOM`). The value under
/// ``JournalMessageID/metadataKey`` becomes `MESSAGE_ID`.
package struct JournalLogHandler: LogHandler {
  private let label: String
  private let writer: JournalWriter
  private let sharedLevel: SharedLogLevel
  private var ownLevel: Logger.Level?

  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  /// Creates a handler. Entries contain `label` as `LIVEHOST_LOGGER`. `level` applies unless a
  /// level is set on this handler.
  package init(
    label: String, writer: JournalWriter, level: SharedLogLevel,
    metadataProvider: Logger.MetadataProvider? = nil
  ) {
    self.label = label
    self.writer = writer
    sharedLevel = level
    self.metadataProvider = metadataProvider
  }

  package var logLevel: Logger.Level {
    get { ownLevel ?? sharedLevel.level }
    set { ownLevel = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    writer.offer(LogRecord(event, label: label, metadata: metadata, provider: metadataProvider))
  }
}
