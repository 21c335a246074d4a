import Recordings
import Rooms

extension RecordingCheck {
  /// Waits for a free slot, then reads half a megabyte, which takes less than a millisecond.
  ///
  /// - Parameter isNew: Whether the call is refused if too many tasks are waiting.
  /// - Returns: `false` at the end of the recording.
  /// - Throws: ``WorkSlots/Full``; `CancellationError`; `RecordingError` if a file cannot be read.
  mutating func nextPart(on slots: WorkSlots, isNew: Bool = false) async throws -> Bool {
    try await slots.run(isNew: isNew) {
      for _ in 0..<16 { guard try next() else { return false } }
      return true
    }
  }
}
