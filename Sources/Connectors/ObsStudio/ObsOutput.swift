import LiveEvents

/// The state of OBS's stream or recording.
///
/// Events and polls may contradict each other. While OBS reconnects, its event reports the output
/// as inactive, but a poll reports it as active. A poll may also be in flight when an event
/// arrives. Therefore only the state name of an event counts, and a poll counts only if no event
/// followed its request.
struct ObsOutput: Sendable {
  enum State: Equatable, Sendable {
    case unknown, starting, running, reconnecting, paused, stopping, stopped

    static let prefix = "OBS_WEBSOCKET_OUTPUT_"

    /// Returns the state that an event names, or `nil` if the name is unknown.
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
  /// The number of events, which shows whether an event arrived after a poll was requested.
  private(set) var revision = 0
  /// Whether the connection was lost and the output has not been active since. While this is true,
  /// it is unknown how a stopped output ended.
  private(set) var hasUnknownEnd = false

  mutating func apply(event: State) {
    revision += 1
    state = event
    hasUnknownEnd = false
  }

  /// Applies the result of a poll, unless an event arrived after its request.
  mutating func apply(poll: State, askedAt revision: Int) {
    guard revision == self.revision else { return }
    switch (state, poll) {
    // During a transition, a poll may report the previous or the next state.
    case (.starting, .stopped), (.stopping, .running), (.stopping, .paused),
      (.stopping, .reconnecting):
      break
    default:
      state = poll
      if poll != .stopped { hasUnknownEnd = false }
    }
  }

  /// Records that the connection to OBS was lost.
  mutating func forget() {
    revision += 1
    state = .unknown
    hasUnknownEnd = true
  }
}

/// Sums a counter that may restart from 0, as OBS's counters do when a stream reconnects.
struct FallingCounter: Sendable {
  private var last: Int?
  private(set) var total = 0

  /// Adds a counter value. Returns the increment since the last value, or `nil` for the first
  /// value.
  @discardableResult
  mutating func add(_ value: Int) -> Int? {
    let added = last.map { value >= $0 ? value - $0 : value }
    // A peer that lets its counter rise and fall forever could make the sum overflow.
    let (sum, overflows) = total.addingReportingOverflow(added ?? value)
    if !overflows { total = sum }
    last = value
    return added
  }
}
