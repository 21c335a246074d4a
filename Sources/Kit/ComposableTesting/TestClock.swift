import Synchronization

/// A clock whose time passes only when the test says so.
///
///     let clock = TestClock()
///     let store = TestStore(initialState: Timer.State(), clock: clock) { Timer(clock: clock) }
///     await store.send(.started)
///     clock.advance(by: .seconds(1))
///     await store.receive(.ticked) { $0.seconds = 1 }
///
/// Sleepers wake in the order of their deadlines, those of one deadline in the order in which they
/// went to sleep; after each, its lane runs until it is idle, so that a sleep that follows is under
/// way before time passes.
public final class TestClock: Clock {
  /// Time since the clock was made.
  public struct Instant: InstantProtocol {
    /// Time since the clock was made.
    public var offset: Duration

    /// The instant at this offset from when the clock was made.
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
    /// Sleeps that were cancelled before they began.
    var cancelled: Set<UInt64> = []
  }

  private let contents = Mutex(Contents())

  /// The lane of the stores and effects that live by this clock.
  public let lane: ManualLane

  /// A clock whose time is zero.
  public init(lane: ManualLane = ManualLane()) { self.lane = lane }

  public var now: Instant { contents.withLock { $0.now } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many sleepers wait for time to pass.
  public var sleeperCount: Int { contents.withLock { $0.sleepers.count } }

  /// Waits until the test lets time pass `deadline`.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
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

  /// Lets this much time pass and runs what that wakes.
  public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

  /// Lets time pass until `target` and runs what that wakes. Time never goes back.
  public func advance(to target: Instant) {
    lane.run()
    while let sleeper = next(until: target) {
      sleeper.continuation.resume()
      lane.run()
    }
    contents.withLock { $0.now = max($0.now, target) }
  }

  /// Lets time pass until no sleeper is left, through at most `limit` wake-ups.
  ///
  /// - Returns: whether no sleeper is left; `false` for a timer without an end.
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

  /// Takes the first sleeper that wakes by `target` and moves time to its deadline.
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
