import HostScreen
import Locking
import Synchronization
import SystemSupport
import ViewGraph

/// Measures the length of each turn of a lane. Only the lane writes the meter; any thread may read
/// it.
///
/// Reads the clock twice per turn, so it is meant for batches and frames, not for single events.
package final class TurnMeter: Sendable {
  /// The maximum age of the thread's stored times at the beginning of a turn, in nanoseconds.
  ///
  /// Reading the times takes about 10 us, so a busy lane spends 0.05 % of its time on this.
  package static let uncertainty: UInt64 = 20_000_000

  /// A turn that is long enough for a report.
  package struct LongTurn: Sendable, Equatable {
    /// The number of the turn on its lane, starting at 0.
    package let number: UInt64
    /// The time at which the turn began, in nanoseconds on the meter's clock.
    package let start: UInt64
    package let nanoseconds: UInt64
    /// The lane's activity when the turn ended.
    package let last: LaneActivity.Label?
    /// The kernel's accounting of the lane's thread during the turn; `nil` if the kernel does not
    /// provide it. May include up to ``TurnMeter/uncertainty`` of the time before the turn.
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
  /// The time at which the current turn began; 0 between turns.
  private let start = Atomic<UInt64>(0)
  private let ended = Guarded<[LongTurn]>([])
  private let clock: @Sendable () -> UInt64
  private let times: @Sendable () -> SchedulerTimes?
  /// The last known times of the thread, and when they were read. Used only by the lane.
  private nonisolated(unsafe) var known: (times: SchedulerTimes?, at: UInt64)?
  package let activity: LaneActivity
  private let onTurn: (@Sendable (_ nanoseconds: UInt64) -> Void)?

  /// - Parameters:
  ///   - onTurn: Called on the lane with the length of each turn. Must return quickly.
  ///   - clock: Returns monotonic nanoseconds, never 0.
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

  package var longestNanoseconds: UInt64 { longest.load(ordering: .relaxed) }
  package var count: UInt64 { turns.load(ordering: .relaxed) }

  /// The number of the current turn, and the time at which it began; `nil` between turns.
  package var current: (number: UInt64, start: UInt64)? {
    let number = turns.load(ordering: .acquiring)
    let start = start.load(ordering: .acquiring)
    // If a turn ended between the two reads, the number and the start belong to different turns.
    guard start != 0, turns.load(ordering: .acquiring) == number else { return nil }
    return (number, start)
  }

  /// Removes and returns the long turns that ended since the last call.
  package func removeLongTurns() -> [LongTurn] { ended.withLock { exchange(&$0, with: []) } }

  package func measure<R>(_ turn: () throws -> R) rethrows -> R {
    let began = clock()
    if known.map({ began &- $0.at >= Self.uncertainty }) ?? true { known = (times(), began) }
    start.store(began, ordering: .releasing)
    defer { end(began) }
    return try turn()
  }

  /// Returns upper bounds for the times that the thread ran and waited in a turn that ends now.
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
