package import LiveEvents
package import RateLimiting

/// A change to the state of a room. Replaying all steps of a room reproduces its state.
package enum RecordedStep: Sendable, Equatable {
  /// The room processed an event, at an instant of the room's time.
  case event(LiveEvent, at: Instant)
  /// The room drew a frame. With `flush`, all pending events were applied first.
  case frame(at: Instant, flush: Bool)
  /// The state was changed by anything other than an event. The text is a JSON object on one line,
  /// which this module does not interpret.
  case change(String, at: Instant)

  package var instant: Instant {
    switch self {
    case .event(_, let instant), .frame(let instant, _), .change(_, let instant): instant
    }
  }
}

/// The steps of one turn of a room, which are written and restored as a whole.
package struct RecordedBatch: Sendable {
  enum Entry: Sendable {
    case events(ArraySlice<LiveEvent>, at: Instant)
    case frame(at: Instant, flush: Bool)
    case change(String, at: Instant)
    /// Indirect, because a mark is three times as large as the other entries.
    indirect case mark(LogMark)
  }

  private(set) var entries: [Entry] = []
  /// Called once all earlier entries are synced or lost.
  private(set) var completions: [@Sendable () -> Void] = []
  /// The number of events, frames and changes, each of which becomes a line.
  package private(set) var stepCount = 0
  /// The size in bytes of the lines in which the events were received.
  private(set) var byteCount = 0
  /// The recording to which the batch is copied.
  package var recorder: RoomRecorder?
  /// The log sequence; `nil` if there are no steps.
  private(set) var sequence: Int?

  package init() {}

  package var isEmpty: Bool { entries.isEmpty && completions.isEmpty && byteCount == 0 }

  /// Adds events that the room processed at one instant. Their storage is shared, not copied.
  package mutating func add(_ events: ArraySlice<LiveEvent>, at instant: Instant) {
    guard !events.isEmpty else { return }
    entries.append(.events(events, at: instant))
    stepCount += events.count
  }

  package mutating func addFrame(at instant: Instant, flush: Bool) {
    entries.append(.frame(at: instant, flush: flush))
    stepCount += 1
  }

  /// Adds a change, which is a JSON object on one line.
  package mutating func addChange(_ text: String, at instant: Instant) {
    entries.append(.change(text, at: instant))
    stepCount += 1
  }

  /// Adds the line that names the room of the steps that follow, and the log sequence.
  package mutating func addMark(_ mark: LogMark) {
    entries.append(.mark(mark))
    sequence = mark.sequence
  }

  /// Adds to the number of bytes that stay in memory until the batch is written.
  package mutating func count(bytes: Int) { byteCount += bytes }

  /// Calls `completion` on the writer's thread once all earlier entries are on disk or lost. If
  /// they are lost, ``LogWriter/failure`` gives the reason.
  package mutating func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    completions.append(completion)
  }
}
