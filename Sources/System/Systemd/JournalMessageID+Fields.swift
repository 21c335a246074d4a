/// The fields that entries of one kind with a `MESSAGE_ID` contain, by their names in the journal.
/// Fields that every entry has (MESSAGE, PRIORITY, CODE_FILE, LIVEHOST_LOGGER ...) are not listed.
package struct JournalFields: Sendable, Equatable {
  /// The fields of every entry of the kind.
  package let always: [String]
  /// The fields of only some entries of the kind.
  package let sometimes: [String]

  init(_ always: [String], sometimes: [String] = []) {
    self.always = always
    self.sometimes = sometimes
  }
}

extension JournalMessageID {
  /// The field of an entry that represents several entries of its kind. Entries of any kind may
  /// have it.
  package static let repeatedField = "LIVEHOST_REPEATED"

  /// The fields of entries of this kind. The daemon writes exactly these, and the catalog names no
  /// others.
  package var fields: JournalFields {
    switch self {
    case .serviceStarted: JournalFields(["LIVEHOST_VERSION", "LIVEHOST_LANES"])
    case .serviceStopped: JournalFields([])
    case .roomOpened, .roomClosed: JournalFields(["LIVEHOST_ROOM"])
    case .microhang, .hang:
      JournalFields(
        [
          "LIVEHOST_NUMBER", "LIVEHOST_TIMESTAMP", "LIVEHOST_DURATION_USEC", "LIVEHOST_LANE",
          "LIVEHOST_REASON",
        ],
        sometimes: [
          "LIVEHOST_ROOM", "LIVEHOST_FEATURE", "LIVEHOST_ACTION", "LIVEHOST_VIEW",
          "LIVEHOST_EFFECT", "LIVEHOST_PROCESSOR_USEC", "LIVEHOST_WAITED_USEC",
        ])
    case .sliderCommitted:
      JournalFields(
        ["LIVEHOST_ROOM", "LIVEHOST_FEATURE", "LIVEHOST_CONTROL", "LIVEHOST_VALUE"])
    case .actEnded:
      JournalFields(
        ["LIVEHOST_ROOM", "LIVEHOST_KIND", "LIVEHOST_RESULT"],
        sometimes: [
          "LIVEHOST_BY", "LIVEHOST_PLATFORM", "LIVEHOST_SOURCE", "LIVEHOST_SUBJECT",
          "LIVEHOST_REASON",
        ])
    case .recordingStarted, .recordingPaused:
      JournalFields(["LIVEHOST_ROOM", "LIVEHOST_RECORDING"])
    case .recordingFinished:
      JournalFields(
        ["LIVEHOST_ROOM", "LIVEHOST_RECORDING", "LIVEHOST_EVENTS", "LIVEHOST_BYTES"])
    case .recordingFailed:
      JournalFields(["LIVEHOST_ROOM", "LIVEHOST_REASON"], sometimes: ["LIVEHOST_RECORDING"])
    case .recordingDamaged: JournalFields(["LIVEHOST_RECORDING", "LIVEHOST_REASON"])
    case .recordingDeleted:
      JournalFields(
        ["LIVEHOST_ROOM", "LIVEHOST_RECORDING", "LIVEHOST_BYTES", "LIVEHOST_REASON"])
    case .inputRejected:
      JournalFields(["LIVEHOST_REASON", "LIVEHOST_COUNT"], sometimes: ["LIVEHOST_ROOM"])
    case .clientRefused:
      JournalFields(["LIVEHOST_RESOURCE", "LIVEHOST_COUNT"], sometimes: ["LIVEHOST_USER"])
    case .configurationReloaded: JournalFields([], sometimes: ["LIVEHOST_NEEDS_RESTART"])
    case .configurationError:
      JournalFields(
        ["LIVEHOST_FILE", "LIVEHOST_REASON"], sometimes: ["LIVEHOST_LINE", "LIVEHOST_KEY"])
    case .taskFinished:
      JournalFields(
        [
          "LIVEHOST_TASK", "LIVEHOST_KIND", "LIVEHOST_SUBJECT", "LIVEHOST_DURATION_USEC",
          "LIVEHOST_RESULT",
        ])
    case .entriesLost: JournalFields(["LIVEHOST_LOST", "LIVEHOST_LOST_ERRORS"])
    }
  }
}
