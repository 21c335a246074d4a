package import Logging

extension JournalMessageID {
  /// The metadata key for the identifier, which ``JournalLogHandler`` writes as the field
  /// `MESSAGE_ID`, not as a `LIVEHOST_` field.
  package static let metadataKey = "journal.messageID"

  /// The level at which entries of this kind are logged by default.
  package var defaultLevel: Logger.Level {
    switch self {
    case .serviceStarted, .serviceStopped, .roomOpened, .roomClosed, .recordingStarted,
      .recordingPaused, .recordingFinished, .recordingDeleted, .configurationReloaded, .actEnded:
      .notice
    case .sliderCommitted, .taskFinished:
      .info
    case .microhang, .inputRejected, .clientRefused, .entriesLost:
      .warning
    case .hang, .recordingFailed, .recordingDamaged, .configurationError:
      .error
    }
  }

  package var levelName: String { defaultLevel.rawValue }
}

extension Logger {
  /// Logs an entry of a kind that has a `MESSAGE_ID`.
  ///
  /// - Parameters:
  ///   - level: The level, or nil for the kind's default level.
  ///   - message: A human-readable text.
  ///   - metadata: The fields: `room` becomes `LIVEHOST_ROOM`, `durationUsec` becomes
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
