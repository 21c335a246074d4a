import LiveEvents
import RateLimiting
import Recordings

/// A recording as seen by its room: gathers what happens in a turn and hands it over at the end.
///
/// Nothing is encoded here: events are handed over unchanged, sharing their storage.
struct RoomRecording {
  let recorder: RoomRecorder
  /// Whether the recording holds everything that ever happened in the room.
  let isWhole: Bool
  /// The position after everything added so far.
  private(set) var position: RecordedPosition
  private var batch = RecordedBatch()

  init(_ recorder: RoomRecorder, isWhole: Bool, after end: RecordedPosition? = nil) {
    self.recorder = recorder
    self.isWhole = isWhole
    position = end ?? RecordedPosition(recording: recorder.name)
  }

  /// Whether so much is waiting for the disk that senders should be held back.
  var isBehind: Bool { recorder.isBehind }

  mutating func add(_ events: ArraySlice<LiveEvent>, at instant: Instant) {
    batch.add(events, at: instant)
    position.advance(by: events.count, at: instant)
  }

  mutating func addFrame(at instant: Instant, flush: Bool) {
    batch.addFrame(at: instant, flush: flush)
    position.advance(by: 1, at: instant)
  }

  mutating func addChange(_ change: RoomChange, at instant: Instant) {
    addChange(change.text, at: instant)
  }

  mutating func addChange(_ text: String, at instant: Instant) {
    batch.addChange(text, at: instant)
    position.advance(by: 1, at: instant)
  }

  /// Counts the lines in which events came: they stay in memory until they are written.
  mutating func count(bytes: Int) { batch.count(bytes: bytes) }

  mutating func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    batch.whenSynced(completion)
  }

  mutating func handOver() {
    if !batch.isEmpty { recorder.post(exchange(&batch, with: RecordedBatch())) }
  }
}
