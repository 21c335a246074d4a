package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles the events of the header: only the latest viewer count in an interval is passed on,
/// and reactions are summed per frame. The title passes immediately, after all earlier events.
package struct HeaderThrottle: PartThrottle {
  /// The single key of all reactions, which are shown as one number regardless of their kind.
  private enum ReactionKey { case likes }

  private var viewers: Paced<LatestWins<Int>>
  /// The largest count since the last delivery, so that a peak is not lost with superseded
  /// readings.
  private var peak = 0
  private var reactions: Paced<Aggregate<ReactionKey>>

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    viewers = Paced(LatestWins(interval: policies[.viewers].interval))
    reactions = Paced(Aggregate(interval: policies[.reactions].interval, keyCapacity: 1))
    apply(policies)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    viewers.follow(policies[.viewers].adaptive)
    reactions.follow(policies[.reactions].adaptive)
  }

  package mutating func record(cost: Interval) {
    viewers.record(cost: cost)
    reactions.record(cost: cost)
  }

  package var deadline: Instant? { .earlier(viewers.deadline, reactions.deadline) }

  package var pending: Int { pendingViewers + pendingReactions }
  package var pendingViewers: Int { viewers.pending }
  package var pendingReactions: Int { reactions.pending }

  package mutating func receive(
    _ event: HeaderEvent, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<HeaderFeature.Action>
  ) {
    switch event {
    case .viewers(let count):
      peak = max(peak, count)
      deliver(viewers.limiter.push(count, at: now), into: &output)
    case .reaction(_, let count):
      deliver(reactions.limiter.push(Int64(count), for: .likes, at: now), into: &output)
    case .title(let title):
      flush(at: now, into: &output)
      output.apply(.titleChanged(String(title)))
    }
  }

  package mutating func wake(
    at now: Instant, into output: inout ThrottleOutput<HeaderFeature.Action>
  ) {
    deliver(viewers.wake(at: now), into: &output)
    deliver(reactions.wake(at: now), into: &output)
  }

  package mutating func flush(
    at now: Instant, into output: inout ThrottleOutput<HeaderFeature.Action>
  ) {
    deliver(viewers.flush(at: now), into: &output)
    deliver(reactions.flush(at: now), into: &output)
  }

  private mutating func deliver(
    _ step: Step<Int>, into output: inout ThrottleOutput<HeaderFeature.Action>
  ) {
    output.coalesce(step.coalesced)
    guard let count = step.output else { return }
    output.apply(.viewersChanged(count: count, peak: max(peak, count)), events: step.applied)
    peak = 0
  }

  private func deliver(
    _ step: Step<[Aggregate<ReactionKey>.Sum]>,
    into output: inout ThrottleOutput<HeaderFeature.Action>
  ) {
    guard let sums = step.output else { return }
    for sum in sums { output.apply(.reacted(Int(sum.amount)), events: sum.inputs) }
  }
}
