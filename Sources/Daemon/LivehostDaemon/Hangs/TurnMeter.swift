import HostScreen
import Platform
import Synchronization
import ViewGraph

/// Measures how long a lane is held without a break. Written by the lane, readable from any thread.
///
/// Two clock reads per turn: meant for batches and frames, not for events.
package final class TurnMeter: Sendable {
  /// How old the known times of the thread may be when a turn begins, in nanoseconds: reading them costs some
  /// 10 us, so a busy lane spends 0.05 % on it.
  package static let uncertainty: UInt64 = 20_000_000

  /// A turn long enough to be reported.
  package struct LongTurn: Sendable, Equatable {
    /// The number of the turn on its lane, starting at 0.
    package let number: UInt64
    /// On the meter's clock, in nanoseconds.
    package let start: UInt64
    package let nanoseconds: UInt64
    /// What the lane was doing when the turn ended.
    package let last: LaneActivity.Label?
    /// How the lane's thread spent the turn, and at most ``TurnMeter/uncertainty`` before it; `nil` if the
    /// kernel does not tell.
    package let times: SchedulerTimes?

    package init(
      number: UInt64, start: UInt64, nanoseconds: UInt64, last: LaneActivity.Label?,
      times: SchedulerTimes? = nil
    ) {
      self.number = number
      self.start = start
      self.nanoseconds = nanoseconds
      self.last = last
      self.times = times
    }
  }

  private let longest = Atomic<UInt64>(0)
  private let turns = Atomic<UInt64>(0)
  /// When the current turn began; 0 between turns.
  private let start = Atomic<UInt64>(0)
  private let ended = Guarded<[LongTurn]>([])
  private let clock: @Sendable () -> UInt64
  private let times: @Sendable () -> SchedulerTimes?
  /// What the kernel said of the thread before a turn, and when. Only the lane uses it.
  private nonisolated(unsafe) var known: (times: SchedulerTimes?, at: UInt64)?
  package let activity: LaneActivity
  private let onTurn: (@Sendable (_ nanoseconds: UInt64) -> Void)?

  /// - Parameters:
  ///   - onTurn: called with the length of each turn, on the lane; must return quickly.
  ///   - times: those of the calling thread.
  ///   - clock: monotonic nanoseconds, never 0.
  package init(
    activity: LaneActivity = LaneActivity(),
    onTurn: (@Sendable (_ nanoseconds: UInt64) -> Void)? = nil,
    times: @escaping @Sendable () -> SchedulerTimes? = SchedulerTimes.ofCurrentThread,
    clock: @escaping @Sendable () -> UInt64
  ) {
    self.activity = activity
    self.onTurn = onTurn
    self.times = times
    self.clock = clock
  }

  /// The longest turn so far, in nanoseconds.
  package var longestNanoseconds: UInt64 { longest.load(ordering: .relaxed) }
  package var count: UInt64 { turns.load(ordering: .relaxed) }

  /// The number of the current turn, and when it began; `nil` between turns.
  package var current: (number: UInt64, start: UInt64)? {
    let number = turns.load(ordering: .acquiring)
    let start = start.load(ordering: .acquiring)
    // If the turn ended in between, the two do not belong together.
    guard start != 0, turns.load(ordering: .acquiring) == number else { return nil }
    return (number, start)
  }

  /// The long turns that ended since the last call.
  package func takeLongTurns() -> [LongTurn] { ended.withLock { exchange(&$0, with: []) } }

  /// Runs one turn.
  package func measure<R>(_ turn: () throws -> R) rethrows -> R {
    let began = clock()
    if known.map({ began &- $0.at >= Self.uncertainty }) ?? true { known = (times(), began) }
    start.store(began, ordering: .releasing)
    defer { end(began) }
    return try turn()
  }

  /// The most that the thread can have run and waited in a turn that ends now.
  private func spent(_ nanoseconds: UInt64) -> SchedulerTimes? {
    guard let before = known?.times, let now = times() else { return nil }
    return SchedulerTimes(
      ran: min(nanoseconds, now.ran - before.ran),
      waited: min(nanoseconds, now.waited - before.waited))
  }

  private func end(_ began: UInt64) {
    let now = clock()
    let nanoseconds = now > began ? now - began : 0
    longest.max(nanoseconds, ordering: .relaxed)
    onTurn?(nanoseconds)
    if nanoseconds >= HangClass.reportedNanoseconds {
      let turn = LongTurn(
        number: count, start: began, nanoseconds: nanoseconds, last: activity.present,
        times: spent(nanoseconds))
      ended.withLock { $0.append(turn) }
    }
    activity.clear()
    start.store(0, ordering: .releasing)
    turns.add(1, ordering: .releasing)
  }
}
