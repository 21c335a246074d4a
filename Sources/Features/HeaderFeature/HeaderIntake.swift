package import Intake
package import LiveEvents
package import RateLimiting

/// Thins what the header shows: the newest viewer count wins, reactions are summed per frame, the
/// title and the state of the stream pass at once, behind what came before them.
package struct HeaderIntake: Intake {
  /// Reactions are shown as one number, whatever their kind.
  private enum Tally { case likes }

  private var viewers: Paced<LatestWins<Int>>
  /// The largest count since the last delivery: a peak must not be lost with the readings that a
  /// newer one supersedes.
  private var peak = 0
  private var reactions: Paced<Aggregate<Tally>>

  /// - Parameters:
  ///   - frame: the time over which reactions are summed; above zero.
  ///   - viewersInterval: the shortest time between two viewer counts; above zero. The default and
  ///     the wait for the next frame together stay below 250 ms.
  package init(
    frame: Interval = .nanoseconds(16_666_667), viewersInterval: Interval = .milliseconds(200)
  ) {
    viewers = Paced(LatestWins(interval: viewersInterval))
    reactions = Paced(Aggregate(interval: frame, keyCapacity: 1))
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    viewers.follow(policies[.viewers].adaptive)
    reactions.follow(policies[.reactions].adaptive)
  }

  package mutating func note(cost: Interval) {
    viewers.record(cost: cost)
    reactions.record(cost: cost)
  }

  package var deadline: Instant? { .earlier(viewers.deadline, reactions.deadline) }

  package var pending: Int { viewers.pending + reactions.pending }

  package mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<HeaderFeature.Action>
  ) {
    switch event.payload {
    case .viewers(let count):
      peak = max(peak, count)
      deliver(viewers.limiter.push(count, at: now), into: &output)
    case .reaction(_, let count):
      deliver(reactions.limiter.push(Int64(count), for: .likes, at: now), into: &output)
    case .title(let title):
      flush(at: now, into: &output)
      output.apply(.titleChanged(String(title)))
    case .stream(let phase):
      flush(at: now, into: &output)
      output.apply(.streamChanged(phase, at: event.timestamp))
    case .chatMessage, .chatDelete, .chatClear, .chatTimeout, .chatNotice, .chatModes, .slider,
      .tap, .stats, .meter, .recorderState, .recorderProgress, .waitingJoin, .waitingLeave,
      .waitingAdmit, .waitingSchedule, .waitingCapacity, .host:
      // Events of other features; refused so that each event is accounted for.
      output.reject(.unknownType)
    }
  }

  package mutating func wake(
    at now: Instant, into output: inout IntakeOutput<HeaderFeature.Action>
  ) {
    deliver(viewers.wake(at: now), into: &output)
    deliver(reactions.wake(at: now), into: &output)
  }

  package mutating func flush(
    at now: Instant, into output: inout IntakeOutput<HeaderFeature.Action>
  ) {
    deliver(viewers.flush(at: now), into: &output)
    deliver(reactions.flush(at: now), into: &output)
  }

  private mutating func deliver(
    _ step: Step<Int>, into output: inout IntakeOutput<HeaderFeature.Action>
  ) {
    output.coalesce(step.coalesced)
    guard let count = step.output else { return }
    output.apply(.viewersChanged(count: count, peak: max(peak, count)), events: step.applied)
    peak = 0
  }

  private func deliver(
    _ step: Step<[Aggregate<Tally>.Sum]>, into output: inout IntakeOutput<HeaderFeature.Action>
  ) {
    guard let sums = step.output else { return }
    for sum in sums { output.apply(.reacted(Int(sum.amount)), events: sum.inputs) }
  }
}
