package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles the states of sources: of each source, only the latest state in an interval is passed
/// on. Outages and the final state of a source pass immediately, after all earlier states.
package struct SourcesThrottle: PartThrottle {
  package typealias Action = SourcesFeature.Action

  private struct Report {
    let status: SourceHealth
    let timestamp: Timestamp
  }

  private var states: Paced<KeyedLatestWins<Text, Report>>

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    // The states of `keyCapacity` sources are throttled; the states of any further source pass
    // immediately.
    states = Paced(
      KeyedLatestWins(
        interval: policies[.sources].interval, keyCapacity: 2 * SourcesFeature.limit))
    apply(policies)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    states.follow(policies[.sources].adaptive)
  }

  package mutating func record(cost: Interval) { states.record(cost: cost) }

  package var deadline: Instant? { states.deadline }
  package var pending: Int { states.pending }

  package mutating func receive(
    _ event: SourceEvent, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    switch event {
    case .state(let status):
      // The name is kept for long, so it must not keep its batch of lines alive.
      let status = status.owned()
      if status.isOver {
        // The final state does not wait, because the next state may arrive much later.
        output.coalesce(states.limiter.supersede(status.source).coalesced)
        return output.apply(.reported(status, at: timestamp))
      }
      let step = states.limiter.push(
        Report(status: status, timestamp: timestamp), for: status.source, at: now)
      output.coalesce(step.coalesced)
      if let due = step.output { apply(due, into: &output) }
    case .gap(let gap):
      flush(at: now, into: &output)
      output.apply(.missed(gap, at: timestamp))
    }
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    for due in states.wake(at: now).output ?? [] { apply(due, into: &output) }
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    for held in states.flush(at: now).output ?? [] { apply(held, into: &output) }
  }

  private func apply(_ due: Keyed<Text, Report>, into output: inout ThrottleOutput<Action>) {
    output.apply(.reported(due.value.status, at: due.value.timestamp))
  }
}
