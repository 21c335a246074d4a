import HostScreen
package import Rooms

/// Determines the causes of long turns on one lane.
///
/// Another thread periodically passes samples of the lane to this value, and passes each long turn
/// after its end. The turn is attributed to the activity found in most samples.
package struct HangDetector: Sendable {
  /// A long turn and its cause.
  package struct Finding: Sendable, Equatable {
    package let turn: TurnMeter.LongTurn
    package let holder: LaneActivity.Label?
    package let reason: Reason
    /// The kernel's accounting of the lane's thread during the turn; `nil` if it is unknown.
    package let times: SchedulerTimes?
  }

  package enum Reason: String, Sendable {
    /// The lane's thread was computing.
    case busy
    /// The lane's thread was blocked in a call, without computing.
    case blocked
    /// The lane's thread was ready but did not get a processor: other threads used it, or the whole
    /// virtual machine was not running.
    case descheduled
  }

  private struct Observed: Sendable {
    let number: UInt64
    var seen: [LaneActivity.Label: Int] = [:]
    /// The number of samples in which the thread was awake, minus the number in which it was
    /// asleep.
    var wakefulness = 0
  }

  private var observed: Observed?

  package init() {}

  /// Records a sample of the lane: its current turn, which is `nil` between turns, its activity,
  /// and whether its thread is waiting in a call. The last two are `nil` if they are unknown.
  package mutating func sample(turn: UInt64?, activity: LaneActivity.Label?, isAsleep: Bool?) {
    guard let turn else { return }
    if observed?.number != turn { observed = Observed(number: turn) }
    if let activity { observed?.seen[activity, default: 0] += 1 }
    if let isAsleep { observed?.wakefulness += isAsleep ? -1 : 1 }
  }

  package func finish(_ turn: TurnMeter.LongTurn) -> Finding {
    let observed = observed.flatMap { $0.number == turn.number ? $0 : nil }
    var times = turn.times
    if let ran = times?.ran, let observed, observed.wakefulness > 0 {
      // The kernel does not count the time in which another virtual machine ran, neither as running
      // nor as waiting. If the thread was mostly awake, it was not blocked during that time, so the
      // time counts as waiting for a processor.
      times?.waited = turn.nanoseconds - min(turn.nanoseconds, ran)
    }
    return Finding(
      turn: turn, holder: holder(observed, turn), reason: Self.reason(turn, times), times: times)
  }

  /// Returns the most frequent activity in the samples. A tie is resolved in favour of the last
  /// activity of the turn, then alphabetically.
  private func holder(
    _ observed: Observed?, _ turn: TurnMeter.LongTurn
  ) -> LaneActivity.Label? {
    guard let seen = observed?.seen, let most = seen.values.max() else { return turn.last }
    let candidates = seen.filter { $0.value == most }.keys
    if let last = turn.last, candidates.contains(last) { return last }
    return candidates.min { "\($0)" < "\($1)" }
  }

  private static func reason(_ turn: TurnMeter.LongTurn, _ spent: SchedulerTimes?) -> Reason {
    guard let spent else { return .busy }
    if spent.waited * 2 >= turn.nanoseconds { return .descheduled }
    return spent.ran * 2 >= turn.nanoseconds - spent.waited ? .busy : .blocked
  }
}
