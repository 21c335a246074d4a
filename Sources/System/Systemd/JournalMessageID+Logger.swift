package import Logging

extension JournalMessageID {
  /// The metadata key that carries the identifier to ``JournalLogHandler``. It becomes the field
  /// `MESSAGE_ID`, not a `LIVEHOST_` field.
  package static let metadataKey = "journal.messageID"

  /// The level at which entries of this kind are logged by default.
  package var defaultLevel: Logger.Level {
    switch self {
    case .serviceStarted, .serviceStopped, .roomOpened, .roomClosed, .recordingStarted,
      .recordingPaused, .recordingFinished, .recordingDeleted, .configurationReloaded:
      .notice
    case .sliderCommitted, .taskFinished:
      .info
    case .microhang, .inputRejected, .clientRefused, .entriesLost:
      .warning
    case .hang, .recordingFailed, .recordingDamaged, .configurationError:
      .error
    }
  }

  /// The name of ``defaultLevel``.
  package var levelName: String { defaultLevel.rawValue }
}

extension Logger {
  /// Logs an entry of a kind that has a `MESSAGE_ID`.
  ///
  /// - Parameters:
  ///   - kind: What happened.
  ///   - level: The kind's own level if nil.
  ///   - message: The line that people read.
  ///   - metadata: Becomes fields: `room` is `LIVEHOST_ROOM`, `durationUsec` is
  ///     `LIVEHOST_DURATION_USEC`.
  package func log(
    _ kind: JournalMessageID, level: Logger.Level? = nil,
    _ message: @autoclosure () -> Logger.Message,
    metadata: @autoclosure () -> Logger.Metadata = [:],
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(
      level: level ?? kind.defaultLevel, message(),
      metadata: metadata().merging([JournalMessageID.metadataKey: .string(kind.rawValue)]) {
        _, id in
        id
      },
      file: file, function: function, line: line)
  }
}
