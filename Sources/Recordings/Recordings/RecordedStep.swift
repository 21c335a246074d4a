package import LiveEvents
package import RateLimiting

/// One step in the life of a room: something that changes its state. Replaying all steps produces
/// the same state.
package enum RecordedStep: Sendable, Equatable {
  /// The room took an event at an instant of its own time.
  case event(LiveEvent, at: Instant)
  /// The room drew a frame; with `flush`, everything its throttles held was applied first.
  case frame(at: Instant, flush: Bool)
  /// Something that the state depends on was changed by other means than an event: one JSON object
  /// on one line, which the recorder does not interpret.
  case change(String, at: Instant)

  package var instant: Instant {
    switch self {
    case .event(_, let instant), .frame(let instant, _), .change(_, let instant): instant
    }
  }
}

/// The steps of one turn of a room, on their way to the disk.
package struct RecordedBatch: Sendable {
  enum Entry: Sendable {
    case events(ArraySlice<LiveEvent>, at: Instant)
    case frame(at: Instant, flush: Bool)
    case change(String, at: Instant)
    /// Apart, since it is three times as large as the others.
    indirect case mark(LogMark)
  }

  private(set) var entries: [Entry] = []
  /// Called once everything added before them is synced or lost.
  private(set) var completions: [@Sendable () -> Void] = []
  /// Events, frames and changes: each becomes a line.
  package private(set) var stepCount = 0
  /// The size of the lines in which the events came.
  private(set) var byteCount = 0
  /// The recording to which it is copied.
  package var recorder: RoomRecorder?
  /// Its log sequence; `nil` if it has no steps.
  private(set) var sequence: Int?

  package init() {}

  package var isEmpty: Bool { entries.isEmpty && completions.isEmpty && byteCount == 0 }

  /// Adds events that the room took at one instant. Shares their storage rather than copying it.
  package mutating func add(_ events: ArraySlice<LiveEvent>, at instant: Instant) {
    guard !events.isEmpty else { return }
    entries.append(.events(events, at: instant))
    stepCount += events.count
  }

  package mutating func addFrame(at instant: Instant, flush: Bool) {
    entries.append(.frame(at: instant, flush: flush))
    stepCount += 1
  }

  /// Adds a change: the text of one JSON object on one line.
  package mutating func addChange(_ text: String, at instant: Instant) {
    entries.append(.change(text, at: instant))
    stepCount += 1
  }

  /// Says in the log whose steps the following ones are.
  package mutating func addMark(_ mark: LogMark) {
    entries.append(.mark(mark))
    sequence = mark.sequence
  }

  /// Counts bytes that stay in memory until the batch is written.
  package mutating func count(bytes: Int) { byteCount += bytes }

  /// Calls `completion` on the writer's thread, once everything added before is on disk or is known
  /// never to get there; ``LogWriter/failure`` then says why.
  package mutating func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    completions.append(completion)
  }
}
