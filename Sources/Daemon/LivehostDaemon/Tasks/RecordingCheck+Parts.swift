import Recordings

extension RecordingCheck {
  /// Reads half a megabyte, in less than a millisecond, once a slot is free; `false` at the end.
  ///
  /// - Parameter isNew: whether it may be refused because too many tasks wait.
  /// - Throws: ``WorkSlots/Full``; `CancellationError`; if a file cannot be read.
  mutating func nextPart(on slots: WorkSlots, isNew: Bool = false) async throws -> Bool {
    try await slots.run(isNew: isNew) {
      for _ in 0..<16 { guard try next() else { return false } }
      return true
    }
  }
}
