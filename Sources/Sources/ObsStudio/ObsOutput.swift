import LiveEvents

/// The stream or the recording of OBS.
///
/// Events and polls contradict each other: while OBS reconnects, an event says that the stream is not active,
/// and a poll that it is; and a poll may have been under way when an event came. So of an event only its state
/// counts, and a poll only if no event came since it was asked.
struct ObsOutput: Sendable {
  enum State: Equatable, Sendable {
    case unknown, starting, running, reconnecting, paused, stopping, stopped

    /// With what the name of each state begins.
    static let prefix = "OBS_WEBSOCKET_OUTPUT_"

    /// The state that an event names; `nil` for one that says nothing new.
    init?(event: String) {
      guard event.hasPrefix(Self.prefix) else { return nil }
      switch event.dropFirst(Self.prefix.count) {
      case "STARTING": self = .starting
      case "STARTED", "RECONNECTED", "RESUMED": self = .running
      case "RECONNECTING": self = .reconnecting
      case "PAUSED": self = .paused
      case "STOPPING": self = .stopping
      case "STOPPED": self = .stopped
      default: return nil
      }
    }

    var isActive: Bool {
      switch self {
      case .running, .reconnecting, .paused: true
      case .unknown, .starting, .stopping, .stopped: false
      }
    }
  }

  private(set) var state = State.unknown
  /// Counts events, so that a poll that one overtook is known.
  private(set) var revision = 0
  /// Whether nothing but that it is stopped is known since the connection was lost, so how it stopped is not.
  private(set) var hasUnknownEnd = false

  mutating func take(event: State) {
    revision += 1
    state = event
    hasUnknownEnd = false
  }

  /// Takes a poll that was asked at a revision.
  mutating func take(poll: State, askedAt revision: Int) {
    guard revision == self.revision else { return }
    switch (state, poll) {
    // Between the two, a poll says what was before or what comes next.
    case (.starting, .stopped), (.stopping, .running), (.stopping, .paused),
      (.stopping, .reconnecting):
      break
    default:
      state = poll
      if poll != .stopped { hasUnknownEnd = false }
    }
  }

  /// The connection to OBS was lost.
  mutating func forget() {
    revision += 1
    state = .unknown
    hasUnknownEnd = true
  }
}

/// A counter that starts again from 0 while what it counts goes on, as OBS's do when a stream reconnects.
struct FallingCounter: Sendable {
  private var last: Int?
  /// All that was counted.
  private(set) var total = 0

  /// Takes the counter. Gives what was added since the last time; `nil` the first time.
  @discardableResult
  mutating func take(_ value: Int) -> Int? {
    let added = last.map { value >= $0 ? value - $0 : value }
    // What a counter adds up to that goes up and down without end does not fit into any number.
    let (sum, overflows) = total.addingReportingOverflow(added ?? value)
    if !overflows { total = sum }
    last = value
    return added
  }
}
