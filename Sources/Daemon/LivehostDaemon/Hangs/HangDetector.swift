import HostScreen

/// Finds out what made the long turns of one lane long.
///
/// A value: another thread lets it look at the lane from time to time, and reports each long turn
/// to it at the end. The turn is attributed to what the lane was seen doing most often.
package struct HangDetector: Sendable {
  /// A turn that lasted, and why.
  package struct Finding: Sendable, Equatable {
    package let turn: TurnMeter.LongTurn
    package let holder: LaneActivity.Label?
    package let reason: Reason
    /// The times of the lane's thread during the turn, from the kernel; `nil` if they are unknown.
    package let times: SchedulerTimes?
  }

  package enum Reason: String, Sendable {
    /// The lane computed.
    case busy
    /// The lane was waiting in a call: it was held without computing.
    case blocked
    /// The lane was ready, but the machine did not give it a processor: others had it, or the machine is a
    /// virtual one and was not running itself.
    case descheduled
  }

  /// A turn that is being observed.
  private struct Observed: Sendable {
    let number: UInt64
    var seen: [LaneActivity.Label: Int] = [:]
    /// How often it was seen awake, less how often asleep.
    var wakefulness = 0
  }

  private var observed: Observed?

  package init() {}

  /// Takes a sample of the lane: its current turn, if there is one, its activity, and whether its thread waits
  /// for something, if that is known.
  package mutating func sample(turn: UInt64?, activity: LaneActivity.Label?, isAsleep: Bool?) {
    guard let turn else { return }
    if observed?.number != turn { observed = Observed(number: turn) }
    if let activity { observed?.seen[activity, default: 0] += 1 }
    if let isAsleep { observed?.wakefulness += isAsleep ? -1 : 1 }
  }

  /// Attributes a long turn that has ended.
  package func finish(_ turn: TurnMeter.LongTurn) -> Finding {
    let observed = observed.flatMap { $0.number == turn.number ? $0 : nil }
    var times = turn.times
    if let ran = times?.ran, let observed, observed.wakefulness > 0 {
      // The kernel of a virtual machine counts the time in which another one was running neither way; a thread
      // that was seen awake did not wait for anything in it.
      times?.waited = turn.nanoseconds - min(turn.nanoseconds, ran)
    }
    return Finding(
      turn: turn, holder: holder(observed, turn), reason: Self.reason(turn, times), times: times)
  }

  /// The activity seen most often; of several, the one seen at the end, or else the first by name.
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
