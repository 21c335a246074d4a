import Glibc
package import Logging

/// A swift-log handler that writes readable lines to standard error, for programs run manually.
///
/// Each line is a single `write`, so lines of several threads do not mix. Writing blocks until
/// standard error accepts the line; a service uses ``JournalLogHandler``, which does not block.
package struct ConsoleLogHandler: LogHandler {
  private let label: String
  private let sharedLevel: SharedLogLevel
  private let colour: Bool
  private let write: @Sendable (String) -> Void
  private var ownLevel: Logger.Level?

  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  /// Creates a handler for standard error. Lines are coloured if standard error is a terminal and
  /// `NO_COLOR` is unset.
  package init(
    label: String, level: SharedLogLevel, metadataProvider: Logger.MetadataProvider? = nil
  ) {
    let colour = isatty(STDERR_FILENO) == 1 && getenv("NO_COLOR") == nil
    self.init(
      label: label, level: level, metadataProvider: metadataProvider, colour: colour,
      write: Self.writeToStandardError)
  }

  package init(
    label: String, level: SharedLogLevel, metadataProvider: Logger.MetadataProvider?,
    colour: Bool, write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    sharedLevel = level
    self.metadataProvider = metadataProvider
    self.colour = colour
    self.write = write
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
    let record = LogRecord(event, label: label, metadata: metadata, provider: metadataProvider)
    write(ConsoleLine.format(record, at: .now(), colour: colour))
  }

  private static func writeToStandardError(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
      var offset = 0
      while offset < bytes.count, let base = bytes.baseAddress {
        let written = Glibc.write(STDERR_FILENO, base + offset, bytes.count - offset)
        if written < 0 && errno == EINTR { continue }
        // A log line that cannot be written cannot be reported anywhere.
        if written <= 0 { return }
        offset += written
      }
    }
  }
}
