import Locking

/// A clock that advances only when the test advances it.
///
///     let clock = TestClock()
///     let store = TestStore(initialState: Timer.State(), clock: clock) { Timer(clock: clock) }
///     await store.send(.started)
///     clock.advance(by: .seconds(1))
///     await store.receive(.ticked) { $0.seconds = 1 }
///
/// Sleepers wake in the order of their deadlines, and for equal deadlines in the order in which
/// they fell asleep. After each wake-up the lane runs until it is idle, so that a following sleep
/// begins before time advances further.
public final class TestClock: Clock {
  /// A point in time, measured from the creation of the clock.
  public struct Instant: InstantProtocol {
    /// The time since the clock was made.
    public var offset: Duration

    /// Makes the instant at this offset from the creation of the clock.
    public init(offset: Duration = .zero) { self.offset = offset }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper: Sendable {
    let deadline: Instant
    let number: UInt64
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Contents: Sendable {
    var now = Instant()
    var last: UInt64 = 0
    var sleepers: [Sleeper] = []
    /// The sleeps that were cancelled before they began, by their sequence numbers.
    var cancelled: Set<UInt64> = []
  }

  private let contents = Guarded(Contents())

  /// The lane of the stores and effects that use this clock.
  public let lane: ManualLane

  /// Makes a clock whose time is zero.
  public init(lane: ManualLane = ManualLane()) { self.lane = lane }

  public var now: Instant { contents.withLock { $0.now } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of sleepers that are waiting.
  public var sleeperCount: Int { contents.withLock { $0.sleepers.count } }

  /// Waits until the test advances time to `deadline`.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before that.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let number = contents.withLock { contents in
      contents.last += 1
      return contents.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = contents.withLock { contents in
          if contents.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if deadline <= contents.now { return .success(()) }
          contents.sleepers.append(
            Sleeper(deadline: deadline, number: number, continuation: continuation))
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let sleeper = contents.withLock { contents -> Sleeper? in
        guard let index = contents.sleepers.firstIndex(where: { $0.number == number }) else {
          contents.cancelled.insert(number)
          return nil
        }
        return contents.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
    contents.withLock { _ = $0.cancelled.remove(number) }
  }

  /// Advances time by this duration and runs the work that becomes due.
  public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

  /// Advances time to `target` and runs the work that becomes due. Time never moves backwards.
  public func advance(to target: Instant) {
    lane.run()
    while let sleeper = next(until: target) {
      sleeper.continuation.resume()
      lane.run()
    }
    contents.withLock { $0.now = max($0.now, target) }
  }

  /// Advances time until no sleeper is left, through at most `limit` wake-ups.
  ///
  /// - Returns: Whether no sleeper is left; `false` for an endless timer.
  @discardableResult
  public func run(limit: Int = 10_000) -> Bool {
    lane.run()
    for _ in 0..<limit {
      guard let sleeper = next(until: nil) else { return true }
      sleeper.continuation.resume()
      lane.run()
    }
    return sleeperCount == 0
  }

  /// Removes the first sleeper that is due by `target` and advances time to its deadline.
  private func next(until target: Instant?) -> Sleeper? {
    contents.withLock { contents in
      guard
        let index = contents.sleepers.indices.min(by: { left, right in
          let (left, right) = (contents.sleepers[left], contents.sleepers[right])
          return (left.deadline, left.number) < (right.deadline, right.number)
        }), target.map({ contents.sleepers[index].deadline <= $0 }) ?? true
      else { return nil }
      contents.now = max(contents.now, contents.sleepers[index].deadline)
      return contents.sleepers.remove(at: index)
    }
  }
}
