import Systemd

/// Gives way about once a millisecond, by time, and notices cancellation there.
struct Slice {
  /// Nanoseconds of work between two yields.
  let length: UInt64
  private var began = MonotonicClock.nanoseconds()

  init(length: UInt64) { self.length = length }

  /// Yields if it is time. Costs one look at the clock otherwise.
  ///
  /// - Throws: `CancellationError`.
  mutating func yieldIfDue() async throws {
    guard MonotonicClock.nanoseconds() - began >= length else { return }
    try Task.checkCancellation()
    await Task.yield()
    began = MonotonicClock.nanoseconds()
  }
}
