import HostScreen
package import LiveEvents
package import RateLimiting
package import Recordings

/// Gathers the steps of a room into one batch per turn, and posts the batches to the write-ahead
/// log and the room's recording.
///
/// Encodes nothing: events are posted unchanged, and share their storage. Drops everything until
/// ``begin(_:rejected:opened:)``, which is never called for a room without a log.
package struct RoomLog {
  /// Writes the batches; `nil` before the log begins.
  private(set) var writer: LogWriter?
  /// The log sequence of the newest batch, or of the state from which the room was restored.
  private(set) var sequence: Int
  /// The open recording.
  private(set) var recorder: RoomRecorder?
  /// The steps that the next start must replay.
  private(set) var unsaved = Unsaved()
  /// Whether the recording contains every step of the room since it was opened.
  private var isWhole = false
  /// Whether batches are copied to the recording.
  private var copies = false
  /// Whether the room's state depends on more than events, for example on acts of the host.
  private var isDriven = false
  /// The rejections that are in the log.
  private var rejected: [RejectionReason: Int]
  private let room: String
  /// When the room was opened; `nil` after the time was logged.
  private var opened: Int?
  private var batch = RecordedBatch()
  /// Whether the current batch has its ``LogMark`` already.
  private var hasMark = false

  /// Steps since the last snapshot.
  struct Unsaved {
    var steps = 0
    /// The size in bytes of the lines in which the events were received.
    var bytes = 0
  }

  package init(of room: String, restoring snapshot: RoomSnapshot?) {
    self.room = room
    sequence = snapshot?.sequence ?? 0
    rejected = snapshot?.screen.counts.rejectedByReason ?? [:]
  }

  /// Whether the room's batches are not logged.
  var isUnlogged: Bool { writer.map { $0.failure != nil } ?? true }

  /// Whether senders should be held back, because too many batches are waiting for the disk.
  var isBehind: Bool { writer?.isBehind == true }

  /// Whether replaying the steps since the last snapshot takes a noticeable time, about 30 ms or
  /// more.
  var isLong: Bool { writer != nil && (unsaved.steps >= 8_192 || unsaved.bytes >= 1 << 20) }

  /// Whether replaying the steps since the last snapshot takes no longer than writing and reading
  /// another snapshot, about 4 ms.
  var isShort: Bool { unsaved.steps <= 1_024 && unsaved.bytes <= 1 << 17 }

  // MARK: Beginning

  /// Continues the log of a restored room after a log sequence. A recording that begins later does
  /// not contain every step of the room, because it depends on the restored state.
  mutating func resume(after sequence: Int) { (self.sequence, isDriven) = (sequence, true) }

  /// Continues the log after the room's newest batch, with a new writer. A recording that failed
  /// with the previous writer stays open until the room learns of the failure.
  ///
  /// - Parameters:
  ///   - rejected: the room's rejections so far.
  ///   - opened: when a new room was opened, in milliseconds since 1970; `nil` for any other room.
  package mutating func begin(_ writer: LogWriter, rejected: [RejectionReason: Int], opened: Int?) {
    // Completions that wait for the previous writer must learn that it failed.
    handOver()
    self.writer?.end()
    (self.writer, self.rejected, self.opened) = (writer, rejected, opened)
    (copies, isWhole) = (false, false)
  }

  /// Copies all following batches to a recording.
  ///
  /// - Parameter isEmpty: whether neither the recording nor the room has received an event.
  mutating func begin(_ recorder: RoomRecorder, isEmpty: Bool) {
    handOver()
    (self.recorder, isWhole, copies) = (recorder, isEmpty && !isDriven, true)
  }

  /// Stops copying batches. Returns the recorder, and whether the recording contains every step of
  /// the room.
  mutating func endRecording() -> (recorder: RoomRecorder, isWhole: Bool)? {
    guard let recorder else { return nil }
    handOver()
    (self.recorder, copies) = (nil, false)
    return (recorder, isWhole)
  }

  /// Counts steps that were logged after the last snapshot, but before this log began.
  mutating func addUnsaved(_ earlier: Unsaved) {
    unsaved.steps += earlier.steps
    unsaved.bytes += earlier.bytes
  }

  mutating func resetUnsaved() { unsaved = Unsaved() }

  // MARK: Steps

  mutating func add(_ events: ArraySlice<LiveEvent>, at instant: Instant) {
    guard !events.isEmpty, count(steps: events.count) else { return }
    batch.add(events, at: instant)
  }

  /// Adds an event that no sender sent: an act of the host, or the outcome of an effect.
  mutating func add(act event: LiveEvent, at instant: Instant) {
    isDriven = true
    add(change: RoomChange.act, at: instant)
    add([event], at: instant)
  }

  package mutating func addFrame(at instant: Instant, flush: Bool) {
    if count(steps: 1) { batch.addFrame(at: instant, flush: flush) }
  }

  mutating func add(_ change: RoomChange, at instant: Instant) {
    if writer != nil { add(change: change.text, at: instant) }
  }

  mutating func add(change text: String, at instant: Instant) {
    if count(steps: 1) { batch.addChange(text, at: instant) }
  }

  /// Adds the number of events that were rejected since the last call. No other step contains them.
  mutating func add(rejected: [RejectionReason: Int], at instant: Instant) {
    guard writer != nil, rejected != self.rejected else { return }
    let new = rejected.merging(self.rejected) { $0 - $1 }.filter { $0.value > 0 }
    self.rejected = rejected
    add(RoomChange(rejected: new), at: instant)
  }

  /// Adds a batch that closes the room permanently.
  mutating func addClosing() {
    handOver()
    if let writer { mark(writer, isClosing: true) }
  }

  /// Counts the bytes of the lines in which events were received. The lines stay in memory until
  /// the events are written.
  mutating func count(bytes: Int) {
    guard writer != nil else { return }
    unsaved.bytes += bytes
    batch.count(bytes: bytes)
  }

  private mutating func count(steps: Int) -> Bool {
    guard let writer else { return false }
    unsaved.steps += steps
    if !hasMark { mark(writer) }
    return true
  }

  private mutating func mark(_ writer: LogWriter, isClosing: Bool = false) {
    let before = exchange(&sequence, with: writer.nextSequence())
    precondition(sequence > before, "log sequences grow")
    var mark = LogMark(
      room: room, sequence: sequence, after: before, recording: copies ? recorder?.name : nil)
    mark.opened = exchange(&opened, with: nil)
    if isClosing { mark.closed = true }
    batch.addMark(mark)
    hasMark = true
  }

  // MARK: Posting

  /// Calls `completion` once all earlier steps are on disk or lost. A call of ``handOver()`` must
  /// follow.
  package mutating func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    precondition(writer != nil, "nothing is synced before the log begins")
    batch.whenSynced(completion)
  }

  /// Posts the batch, unless it is empty.
  package mutating func handOver() {
    hasMark = false
    guard let writer, !batch.isEmpty else { return }
    batch.recorder = copies ? recorder : nil
    writer.post(exchange(&batch, with: RecordedBatch()))
  }
}
