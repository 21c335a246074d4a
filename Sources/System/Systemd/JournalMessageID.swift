/// The kinds of journal entry that have an identifier (`MESSAGE_ID`). `livehost.catalog` explains
/// each kind.
///
/// The raw value is the identifier: 32 lower-case hexadecimal digits. Identifiers never change,
/// because scripts, the catalog and existing journals contain them.
package enum JournalMessageID: String, CaseIterable, Sendable {
  case serviceStarted = "9835634ebe874dfb80a5e34d8139c42c"
  case serviceStopped = "c3ba790f40214adbbaa3947378af3bd5"
  case roomOpened = "f18ef5ddee7c4730991a476cf6755f36"
  case roomClosed = "30c787edda934dd180d1c32b99a1ac96"
  case microhang = "33fda32dddf6465b8bf46878338eab63"
  case hang = "adcd8157f5ed40e18767d1e94a59cac0"
  case sliderCommitted = "0887064cfa4f42ec88e2b1ab91b610d0"
  case actEnded = "ae680d5521894737b42c96c2422aa0e5"
  case recordingStarted = "18818499895d44089504c569f8d2bcb0"
  case recordingPaused = "25d1b1f2117d4ef2990a80d6db607f61"
  case recordingFinished = "5889e8b80c1c4f39afae377ad6613b27"
  case recordingFailed = "bc2f0d9c2a5b4a0fb94bfc55f42e6764"
  case recordingDamaged = "12f8387eb3404577a28c4135c99f8fbc"
  case recordingDeleted = "06e5adb345e54641818b419ade5c6abc"
  case inputRejected = "2817468ac82147608afac08892db30f9"
  case clientRefused = "8e7d504cf4bc41e7be7ba352c1d360b3"
  case configurationReloaded = "ed32197de07b4709b654944aa72cb483"
  case configurationError = "b7911e5bc42242a9a72b073abd480f3b"
  case taskFinished = "c75fa8bfdbd84ef49871a24f09c69b71"
  case entriesLost = "6bffe2b93e0e44f89e67119b81b7c184"

  /// The name for the command line, such as `room-opened` (`livehostctl journal --kind`).
  package var name: String {
    switch self {
    case .serviceStarted: "service-started"
    case .serviceStopped: "service-stopped"
    case .roomOpened: "room-opened"
    case .roomClosed: "room-closed"
    case .microhang: "microhang"
    case .hang: "hang"
    case .sliderCommitted: "slider-committed"
    case .actEnded: "act-ended"
    case .recordingStarted: "recording-started"
    case .recordingPaused: "recording-paused"
    case .recordingFinished: "recording-finished"
    case .recordingFailed: "recording-failed"
    case .recordingDamaged: "recording-damaged"
    case .recordingDeleted: "recording-deleted"
    case .inputRejected: "input-rejected"
    case .clientRefused: "client-refused"
    case .configurationReloaded: "reload"
    case .configurationError: "configuration-error"
    case .taskFinished: "task-finished"
    case .entriesLost: "entries-lost"
    }
  }

  /// Finds the kind with this ``name``, or returns `nil` if there is none.
  package init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}
