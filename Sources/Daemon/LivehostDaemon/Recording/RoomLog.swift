import LiveEvents
import RateLimiting
import Recordings

/// Gathers the steps of a room into one batch per turn, and posts them to the log and the room's recording.
///
/// Nothing is encoded here: events are posted unchanged, and share their storage.
struct RoomLog {
  let writer: LogWriter
  /// The log sequence of the newest batch.
  private(set) var sequence: Int
  /// The open recording.
  private(set) var recorder: RoomRecorder?
  /// Whether batches are copied to it.
  private var copies = false
  /// Whether the recording holds everything that ever happened in the room.
  private(set) var isWhole = false
  /// What was added since a snapshot was taken.
  var unsaved = Unsaved()
  private let room: String
  /// When the room was opened; `nil` after that was logged.
  private var opened: Int?
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

  /// - Parameters:
  ///   - sequence: the log sequence of the room's previous batch.
  ///   - opened: when the room was opened, if it has not been logged before.
  init(_ writer: LogWriter, room: String, after sequence: Int, opened: Int?) {
    (self.writer, self.room, self.sequence, self.opened) = (writer, room, sequence, opened)
  }

  /// Whether so much is waiting for the disk that senders should be held back.
  var isBehind: Bool { writer.isBehind }

  /// Whether it takes noticeable time to repeat what happened since the last snapshot: some 30 ms.
  var isLong: Bool { unsaved.steps >= 8_192 || unsaved.bytes >= 1 << 20 }

  /// Whether it takes no longer to repeat that than to write a snapshot and to read it: some 4 ms.
  var isShort: Bool { unsaved.steps <= 1_024 && unsaved.bytes <= 1 << 17 }

  mutating func noteSnapshot() { unsaved = Unsaved() }

  /// Copies all following batches to a recording.
  mutating func begin(_ recorder: RoomRecorder, isWhole: Bool) {
    handOver()
    (self.recorder, self.isWhole, copies) = (recorder, isWhole, true)
  }

  /// Keeps a recording open that failed together with the log, until the room learns of the failure.
  mutating func keep(_ recorder: RoomRecorder?) { self.recorder = recorder }

  /// Stops copying batches.
  mutating func endRecording() {
    handOver()
    (recorder, copies) = (nil, false)
  }

  mutating func add(_ events: ArraySlice<LiveEvent>, at instant: Instant) {
    guard !events.isEmpty else { return }
    note(events.count)
    batch.add(events, at: instant)
  }

  /// Adds what came by no line: an act of the host, or what an effect has brought back.
  mutating func add(act event: LiveEvent, at instant: Instant) {
    addChange(RoomChange.act, at: instant)
    add([event], at: instant)
  }

  mutating func addFrame(at instant: Instant, flush: Bool) {
    note(1)
    batch.addFrame(at: instant, flush: flush)
  }

  mutating func addChange(_ change: RoomChange, at instant: Instant) {
    addChange(change.text, at: instant)
  }

  mutating func addChange(_ text: String, at instant: Instant) {
    note(1)
    batch.addChange(text, at: instant)
  }

  /// Notes that the room is closed for good.
  mutating func addClosing() {
    handOver()
    mark(isClosing: true)
  }

  private var copied: RoomRecorder? { copies ? recorder : nil }

  private mutating func note(_ steps: Int) {
    unsaved.steps += steps
    if !hasMark { mark() }
  }

  private mutating func mark(isClosing: Bool = false) {
    let before = exchange(&sequence, with: writer.nextSequence())
    var mark = LogMark(room: room, sequence: sequence, after: before, recording: copied?.name)
    mark.opened = exchange(&opened, with: nil)
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
    guard !batch.isEmpty else { return }
    batch.recorder = copied
    writer.post(exchange(&batch, with: RecordedBatch()))
  }
}
