package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles the events of the header. Passes on only the latest viewer count of each source in an
/// interval, and sums reactions per frame. Passes on titles and categories immediately, after all
/// earlier events.
package struct HeaderThrottle: PartThrottle {
  package typealias Output = ThrottleOutput<HeaderFeature.Action>

  /// The single key of all reactions, which are shown as one number regardless of their kind.
  private enum ReactionKey { case likes }

  /// The viewer counts of one source.
  private struct Viewers {
    var counts: Paced<LatestWins<Int>>
    /// The largest count since the last delivery, so that a peak is not lost with superseded
    /// readings.
    var peak = 0
    var newest = Instant.origin

    init(_ pacing: ThrottlePolicies.Pacing) {
      counts = Paced(LatestWins(interval: pacing.interval))
      counts.follow(pacing.adaptive)
    }

    /// Returns whether removing the counts would have no effect.
    func isIdle(at now: Instant) -> Bool {
      counts.pending == 0 && now >= newest + counts.limiter.interval
    }
  }

  /// The origin of the next received event.
  package var origin = Origin.none

  private var viewers: PerSource<Viewers>
  private var pacing: ThrottlePolicies.Pacing
  private var reactions: Paced<Aggregate<ReactionKey>>

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    pacing = policies[.viewers]
    viewers = PerSource(Viewers(pacing))
    reactions = Paced(Aggregate(interval: policies[.reactions].interval, keyCapacity: 1))
    reactions.follow(policies[.reactions].adaptive)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    pacing = policies[.viewers]
    let adaptive = pacing.adaptive
    viewers.forEach { source, _ in source.counts.follow(adaptive) }
    reactions.follow(policies[.reactions].adaptive)
  }

  package mutating func record(cost: Interval) {
    viewers.forEach { source, _ in source.counts.record(cost: cost) }
    reactions.record(cost: cost)
  }

  package var deadline: Instant? {
    viewers.reduce(reactions.deadline) { .earlier($0, $1.counts.deadline) }
  }

  package var pending: Int { pendingViewers + pendingReactions }
  package var pendingViewers: Int { viewers.reduce(0) { $0 + $1.counts.pending } }
  package var pendingReactions: Int { reactions.pending }

  package mutating func receive(
    _ event: HeaderEvent, timestamp: Timestamp, at now: Instant, into output: inout Output
  ) {
    switch event {
    case .viewers(let count): receive(count, at: now, into: &output)
    case .reaction(_, let count):
      deliver(reactions.limiter.push(Int64(count), for: .likes, at: now), into: &output)
    case .title(let title):
      flush(at: now, into: &output)
      output.apply(.titleChanged(String(title), from: origin))
    case .category(let category):
      flush(at: now, into: &output)
      output.apply(.categoryChanged(String(category), from: origin))
    }
  }

  private mutating func receive(_ count: Int, at now: Instant, into output: inout Output) {
    let (origin, pacing) = (origin, pacing)
    let isThrottled: Void? = viewers.withValue(
      of: origin, make: { Viewers(pacing) }, isIdle: { $0.isIdle(at: now) }
    ) { source in
      source.peak = max(source.peak, count)
      source.newest = now
      let step = source.counts.limiter.push(count, at: now)
      Self.deliver(step, of: &source, from: origin, into: &output)
    }
    if isThrottled == nil {
      output.apply(.viewersChanged(count: count, peak: count, from: origin))
    }
  }

  package mutating func wake(at now: Instant, into output: inout Output) {
    viewers.forEach { source, origin in
      let step = source.counts.wake(at: now)
      Self.deliver(step, of: &source, from: origin, into: &output)
    }
    deliver(reactions.wake(at: now), into: &output)
  }

  package mutating func flush(at now: Instant, into output: inout Output) {
    viewers.forEach { source, origin in
      let step = source.counts.flush(at: now)
      Self.deliver(step, of: &source, from: origin, into: &output)
    }
    deliver(reactions.flush(at: now), into: &output)
  }

  private static func deliver(
    _ step: Step<Int>, of source: inout Viewers, from origin: Origin, into output: inout Output
  ) {
    output.coalesce(step.coalesced)
    guard let count = step.output else { return }
    output.apply(
      .viewersChanged(count: count, peak: max(source.peak, count), from: origin),
      events: step.applied)
    source.peak = 0
  }

  private func deliver(
    _ step: Step<[Aggregate<ReactionKey>.Sum]>, into output: inout Output
  ) {
    guard let sums = step.output else { return }
    for sum in sums { output.apply(.reacted(Int(sum.amount)), events: sum.inputs) }
  }
}
