import Logging

/// A log handler that passes each entry to a closure.
struct NotingLogHandler: LogHandler {
  let note: @Sendable (LogEvent) -> Void
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { note(event) }
}

extension Logger {
  /// Returns a logger whose entries are recorded.
  init(noting note: @escaping @Sendable (LogEvent) -> Void) {
    self.init(label: "test") { _ in NotingLogHandler(note: note) }
  }
}
