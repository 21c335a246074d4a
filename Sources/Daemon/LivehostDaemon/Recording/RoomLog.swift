import LiveEvents
import RateLimiting
import Recordings

/// What a room does, on its way to its recording or to the log that all rooms share: gathers what happens in a turn
/// and hands it over at the end.
///
/// Nothing is encoded here: events are handed over unchanged, sharing their storage.
struct RoomLog {
  let recorder: RoomRecorder
  /// Whether it is a recording; otherwise it is the log of all rooms.
  let isRecording: Bool
  /// Whether the recording holds everything that ever happened in the room.
  let isWhole: Bool
  /// The position in the recording after everything added so far.
  private(set) var position: RecordedPosition
  /// The position in the log after everything added so far.
  private(set) var logged: LogPosition
  /// What was added since a snapshot was taken.
  var unsaved = Unsaved()
  private let room: String
  private let opened: Int?
  private let after: LogPosition?
  private let recorded: RecordedPosition?
  private var batch = RecordedBatch()
  private var hasMark = false

  /// How much the next start has to repeat.
  struct Unsaved {
    var steps = 0
    /// The size of the lines in which events came.
    var bytes = 0

    mutating func add(_ other: Unsaved) {
      steps += other.steps
      bytes += other.bytes
    }
  }

  /// A recording.
  init(_ recorder: RoomRecorder, isWhole: Bool, after end: RecordedPosition? = nil) {
    self.recorder = recorder
    self.isWhole = isWhole
    isRecording = true
    position = end ?? RecordedPosition(recording: recorder.name)
    logged = LogPosition(session: 0)
    (room, opened, after, recorded) = ("", nil, nil, nil)
  }

  /// The log.
  ///
  /// - Parameters:
  ///   - opened: when the room was opened, if this is its first session.
  ///   - end: the position that the session continues, if it does.
  ///   - recorded: the end of the recording between that and the session, if there is one.
  init(
    _ recorder: RoomRecorder, room: String, opened: Int?, after end: LogPosition?,
    recorded: RecordedPosition?
  ) {
    self.recorder = recorder
    self.room = room
    self.opened = opened
    self.recorded = recorded
    after = end
    (isRecording, isWhole) = (false, false)
    position = RecordedPosition(recording: "")
    logged = LogPosition(session: recorder.session)
  }

  /// Whether so much is waiting for the disk that senders should be held back.
  var isBehind: Bool { recorder.isBehind }

  /// Whether it takes noticeable time to repeat what happened since the last snapshot: some 30 ms.
  var isLong: Bool { unsaved.steps >= 8_192 || unsaved.bytes >= 1 << 20 }

  /// Whether it takes no longer to repeat that than to write a snapshot and to read it: some 4 ms.
  var isShort: Bool { unsaved.steps <= 1_024 && unsaved.bytes <= 1 << 17 }

  mutating func noteSnapshot() { unsaved = Unsaved() }

  mutating func add(_ events: ArraySlice<LiveEvent>, at instant: Instant) {
    guard !events.isEmpty else { return }
    note(events.count, at: instant)
    batch.add(events, at: instant)
  }

  /// Adds what came by no line: an act of the host, or what an effect has brought back.
  mutating func add(act event: LiveEvent, at instant: Instant) {
    addChange(RoomChange.act, at: instant)
    add([event], at: instant)
  }

  mutating func addFrame(at instant: Instant, flush: Bool) {
    note(1, at: instant)
    batch.addFrame(at: instant, flush: flush)
  }

  mutating func addChange(_ change: RoomChange, at instant: Instant) {
    addChange(change.text, at: instant)
  }

  mutating func addChange(_ text: String, at instant: Instant) {
    note(1, at: instant)
    batch.addChange(text, at: instant)
  }

  /// Notes in the log that the room is closed for good.
  mutating func addClosing() { mark(isClosing: true) }

  private mutating func note(_ steps: Int, at instant: Instant) {
    unsaved.steps += steps
    if isRecording { position.advance(by: steps, at: instant) } else if !hasMark { mark() }
  }

  private mutating func mark(isClosing: Bool = false) {
    logged.batch += 1
    var mark = LogMark(room: room, at: logged)
    if logged.batch == 1 { (mark.opened, mark.after, mark.recorded) = (opened, after, recorded) }
    if isClosing { mark.closed = true }
    batch.addMark(mark)
    hasMark = true
  }

  /// Counts the lines in which events came: they stay in memory until they are written.
  mutating func count(bytes: Int) {
    unsaved.bytes += bytes
    batch.count(bytes: bytes)
  }

  mutating func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    batch.whenSynced(completion)
  }

  mutating func handOver() {
    hasMark = false
    if !batch.isEmpty { recorder.post(exchange(&batch, with: RecordedBatch())) }
  }
}
