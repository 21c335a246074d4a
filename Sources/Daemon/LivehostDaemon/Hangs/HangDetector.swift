import HostScreen

/// Finds out, for one lane, what its long turns were held by.
///
/// A value: it is shown the lane now and then from another thread, and told of each long turn at its
/// end. What the lane was seen doing most often during the turn is what held it.
package struct HangDetector: Sendable {
  /// A turn that lasted, and why.
  package struct Finding: Sendable, Equatable {
    package let turn: TurnMeter.LongTurn
    package let holder: LaneActivity.Label?
    package let reason: Reason
    /// What the kernel gave the lane's thread during the turn; `nil` if that is not known.
    package let times: SchedulerTimes?
  }

  package enum Reason: String, Sendable {
    /// The lane computed.
    case busy
    /// The lane waited in a call for something: it was held without computing.
    case blocked
    /// The lane was ready, and the machine gave it no processor.
    case descheduled
  }

  /// A turn that is looked at.
  private struct Observed: Sendable {
    let number: UInt64
    /// The times before the turn began, as far as they were looked at.
    let before: SchedulerTimes?
    var seen: [LaneActivity.Label: Int] = [:]
  }

  private var observed: Observed?
  private var lastTimes: SchedulerTimes?

  package init() {}

  /// Looks at the lane: at the turn under way if there is one, at what it does, and at its times.
  package mutating func look(
    turn: UInt64?, activity: LaneActivity.Label?, times: SchedulerTimes?
  ) {
    defer { lastTimes = times }
    guard let turn else { return }
    if observed?.number != turn { observed = Observed(number: turn, before: lastTimes) }
    if let activity { observed?.seen[activity, default: 0] += 1 }
  }

  /// A long turn ended.
  package func finish(_ turn: TurnMeter.LongTurn, times: SchedulerTimes?) -> Finding {
    let observed = observed.flatMap { $0.number == turn.number ? $0 : nil }
    // Without a look during the turn the whole time since the last look counts.
    let before = observed?.before ?? lastTimes
    var spent: SchedulerTimes?
    if let before, let times {
      spent = SchedulerTimes(
        ran: min(turn.nanoseconds, times.ran &- before.ran),
        waited: min(turn.nanoseconds, times.waited &- before.waited))
    }
    return Finding(
      turn: turn, holder: holder(observed, turn), reason: Self.reason(turn, spent), times: spent)
  }

  /// What was seen most often; of several the one that was seen at the end, else the first by name.
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
