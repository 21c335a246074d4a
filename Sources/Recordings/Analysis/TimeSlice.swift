import SystemSupport

/// A limit for the time that a task works before it yields, about a millisecond.
struct TimeSlice {
  /// The time between two yields, in nanoseconds.
  let length: UInt64
  private var began = MonotonicClock.nanoseconds()

  init(length: UInt64) { self.length = length }

  /// Yields and checks for cancellation if the slice is over. Otherwise only reads the clock.
  ///
  /// - Throws: `CancellationError`.
  mutating func yieldIfDue() async throws {
    guard isDue else { return }
    try Task.checkCancellation()
    await startNext()
  }

  /// Yields if the slice is over, without checking for cancellation: for work that must be
  /// completed.
  mutating func yieldUncancelledIfDue() async { if isDue { await startNext() } }

  private var isDue: Bool { MonotonicClock.nanoseconds() - began >= length }

  private mutating func startNext() async {
    await Task.yield()
    began = MonotonicClock.nanoseconds()
  }
}

/// A value that may own so much memory that freeing it takes longer than a slice.
protocol Releasable {
  /// Frees the memory in slices.
  mutating func release(_ slice: inout TimeSlice) async
}

extension TimeSlice {
  /// Calls `body` with `owner`, and frees the owner's memory afterwards, even if `body` throws.
  mutating func using<Owner: Releasable, Output>(
    _ owner: consuming Owner, _ body: (inout Owner, inout TimeSlice) async throws -> Output
  ) async throws -> Output {
    var owner = owner
    do {
      let output = try await body(&owner, &self)
      await owner.release(&self)
      return output
    } catch {
      await owner.release(&self)
      throw error
    }
  }
}
