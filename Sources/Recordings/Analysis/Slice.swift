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
    guard isDue else { return }
    try Task.checkCancellation()
    await giveWay()
  }

  /// The same for what has to be done to its end also by a task that is cancelled.
  mutating func giveWayIfDue() async { if isDue { await giveWay() } }

  private var isDue: Bool { MonotonicClock.nanoseconds() - began >= length }

  private mutating func giveWay() async {
    await Task.yield()
    began = MonotonicClock.nanoseconds()
  }
}

/// What may own so much memory that to give it back takes longer than a slice.
protocol Releasable {
  /// Gives it back in slices.
  mutating func release(_ slice: inout Slice) async
}

extension Slice {
  /// Works with something, and then gives its memory back, however that ends.
  mutating func using<Owner: Releasable, Output>(
    _ owner: consuming Owner, _ body: (inout Owner, inout Slice) async throws -> Output
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
