package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles votes: only the latest totals in an interval are passed on. The begin and end of a
/// poll pass immediately, after all earlier votes, so that the last totals of a poll are its final
/// totals.
///
/// Rejects votes and ends that do not match the open poll. The throttle can do this because it has
/// received all events, some of which have not reached the state yet.
package struct PollThrottle: PartThrottle {
  package typealias Action = PollFeature.Action

  private var votes: Paced<LatestWins<[Int]>>
  /// The poll that accepts votes.
  private var open: (id: Text, options: Int)?
  /// Whether the stream is in a phase that shows polls. A poll that begins in another phase is
  /// late, and accepts no votes.
  private var isShown = true

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    votes = Paced(LatestWins(interval: policies[.votes].interval))
    apply(policies)
  }

  /// Accepts votes for the open poll of a restored screen.
  package mutating func resume(_ state: PollFeature.State?) {
    open = state.flatMap { $0.isOpen ? ($0.id, $0.options.count) : nil }
  }

  /// Closes the open poll if the new phase of the stream shows no polls.
  package mutating func show(_ isShown: Bool) {
    self.isShown = isShown
    if !isShown { open = nil }
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    votes.follow(policies[.votes].adaptive)
  }

  package mutating func record(cost: Interval) { votes.record(cost: cost) }

  package var deadline: Instant? { votes.deadline }
  package var pending: Int { votes.pending }

  package mutating func receive(
    _ event: PollEvent, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    switch event {
    case .begin(let question):
      flush(at: now, into: &output)
      open = isShown ? (question.id.owned(), question.options.count) : nil
      output.apply(.began(question, at: timestamp))
    case .votes(let id, let totals):
      guard let open, open.id == id, totals.count == open.options else {
        return output.reject(.invalidValue)
      }
      deliver(votes.limiter.push(totals, at: now), into: &output)
    case .end(let id, let winner):
      guard let open, open.id == id, winner.map({ (0..<open.options).contains($0) }) ?? true else {
        return output.reject(.invalidValue)
      }
      flush(at: now, into: &output)
      self.open = nil
      output.apply(.ended(winner: winner))
    }
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(votes.wake(at: now), into: &output)
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(votes.flush(at: now), into: &output)
  }

  private func deliver(_ step: Step<[Int]>, into output: inout ThrottleOutput<Action>) {
    output.coalesce(step.coalesced)
    if let totals = step.output { output.apply(.voted(totals), events: step.applied) }
  }
}
