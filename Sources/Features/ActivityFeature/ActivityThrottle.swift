package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles the progress of hype trains and goals: of each, only the latest progress in an
/// interval is passed on. All other events pass immediately, after all earlier events.
package struct ActivityThrottle: PartThrottle {
  package typealias Action = ActivityFeature.Action

  private struct Move {
    let train: HypeTrain
    let timestamp: Timestamp
    let origin: Origin
  }

  /// The origin of the next received event.
  package var origin = Origin.none

  private var trains: Paced<LatestWins<Move>>
  private var goals: Paced<KeyedLatestWins<Text, Goal>>

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    trains = Paced(LatestWins(interval: policies[.goals].interval))
    // The progress of `keyCapacity` goals is throttled; the progress of any further goal passes
    // immediately.
    goals = Paced(
      KeyedLatestWins(
        interval: policies[.goals].interval, keyCapacity: 4 * ActivityFeature.maximumGoals))
    apply(policies)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    trains.follow(policies[.goals].adaptive)
    goals.follow(policies[.goals].adaptive)
  }

  package mutating func record(cost: Interval) {
    trains.record(cost: cost)
    goals.record(cost: cost)
  }

  package var deadline: Instant? { .earlier(trains.deadline, goals.deadline) }
  package var pending: Int { trains.pending + goals.pending }

  package mutating func receive(
    _ event: ActivityEvent, timestamp time: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    switch event {
    case .hypeTrain(let train) where train.phase == .progress:
      let move = Move(train: train, timestamp: time, origin: origin)
      deliver(trains.limiter.push(move, at: now), into: &output)
    case .goal(let goal):
      let owned = Goal(title: goal.title.owned(), count: goal.count, target: goal.target)
      let step = goals.limiter.push(owned, for: owned.title, at: now)
      output.coalesce(step.coalesced)
      if let due = step.output { output.apply(.counted(due.value)) }
    case .follow(let user, _):
      pass(.followed(user, at: time, from: origin), at: now, into: &output)
    case .redemption(let redemption):
      pass(.redeemed(redemption, at: time, from: origin), at: now, into: &output)
    case .announcement(let announcement):
      pass(.announced(announcement, at: time, from: origin), at: now, into: &output)
    case .hypeTrain(let train):
      pass(.trainMoved(train, at: time, from: origin), at: now, into: &output)
    case .prediction(let prediction): pass(.predicted(prediction), at: now, into: &output)
    case .handle(let number, .pin): pass(.pinned(number), at: now, into: &output)
    case .handle(let number, .unpin): pass(.unpinned(number), at: now, into: &output)
    case .handle(let number, .dismiss): pass(.dismissed(number), at: now, into: &output)
    }
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(trains.wake(at: now), into: &output)
    for due in goals.wake(at: now).output ?? [] { output.apply(.counted(due.value)) }
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(trains.flush(at: now), into: &output)
    for held in goals.flush(at: now).output ?? [] { output.apply(.counted(held.value)) }
  }

  private mutating func pass(
    _ action: Action, at now: Instant, into output: inout ThrottleOutput<Action>
  ) {
    flush(at: now, into: &output)
    output.apply(action)
  }

  private func deliver(_ step: Step<Move>, into output: inout ThrottleOutput<Action>) {
    output.coalesce(step.coalesced)
    if let move = step.output {
      output.apply(
        .trainMoved(move.train, at: move.timestamp, from: move.origin), events: step.applied)
    }
  }
}
