import Systemd

/// Gives way about once a millisecond, by time, and notices cancellation there.
struct Slice {
  /// Nanoseconds of work between two yields.
  static let length: UInt64 = 700_000

  private var began = MonotonicClock.nanoseconds()

  /// Yields if it is time. Costs one look at the clock otherwise.
  ///
  /// - Throws: `CancellationError`.
  mutating func yieldIfDue() async throws {
    guard MonotonicClock.nanoseconds() - began >= Self.length else { return }
    try Task.checkCancellation()
    await Task.yield()
    began = MonotonicClock.nanoseconds()
  }
}
