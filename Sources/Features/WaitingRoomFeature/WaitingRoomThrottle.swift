package import LiveEvents
package import RateLimiting
package import Throttling

/// Collects joins, leaves, and admissions, and passes all in order in one action per frame. Host
/// actions and settings of the whole waiting room pass immediately, after all earlier changes.
package struct WaitingRoomThrottle: PartThrottle {
  private var changes: Paced<KeepAll<WaitingRoomFeature.Change>>
  private var held = HeldBytes()

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    let pacing = policies[.waitingRoom]
    changes = Paced(KeepAll(interval: pacing.interval, capacity: pacing.capacity))
    changes.follow(pacing.adaptive)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    changes.follow(policies[.waitingRoom].adaptive)
    changes.limiter.capacity = policies[.waitingRoom].capacity
  }

  package mutating func record(cost: Interval) { changes.record(cost: cost) }

  package var deadline: Instant? { changes.deadline }
  package var pending: Int { changes.pending }

  package mutating func receive(
    _ event: WaitingRoomEvent, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<WaitingRoomFeature.Action>
  ) {
    switch event {
    case .join(let person): gather(.joined(person), person, at: now, into: &output)
    case .leave(let person): gather(.left(person), person, at: now, into: &output)
    case .admitted(let person): gather(.admitted(person), person, at: now, into: &output)
    case .schedule(let start):
      pass(.scheduled(start, at: timestamp), at: now, into: &output)
    case .capacity(let capacity): pass(.capacityChanged(capacity), at: now, into: &output)
    case .pace(let perSecond):
      pass(.paceChanged(perSecond, at: timestamp), at: now, into: &output)
    case .admit(.next): pass(.admitNextTapped, at: now, into: &output)
    case .admit(.all): pass(.admitAllTapped, at: now, into: &output)
    case .admit(.person(let id)): pass(.admitPersonTapped(id), at: now, into: &output)
    }
  }

  package mutating func wake(
    at now: Instant, into output: inout ThrottleOutput<WaitingRoomFeature.Action>
  ) {
    deliver(changes.wake(at: now), into: &output)
  }

  package mutating func flush(
    at now: Instant, into output: inout ThrottleOutput<WaitingRoomFeature.Action>
  ) {
    deliver(changes.flush(at: now), into: &output)
  }

  private mutating func gather(
    _ change: WaitingRoomFeature.Change, _ person: Person, at now: Instant,
    into output: inout ThrottleOutput<WaitingRoomFeature.Action>
  ) {
    deliver(changes.limiter.push(change, at: now), into: &output)
    if held.add(person.byteCount) { flush(at: now, into: &output) }
  }

  private mutating func pass(
    _ action: WaitingRoomFeature.Action, at now: Instant,
    into output: inout ThrottleOutput<WaitingRoomFeature.Action>
  ) {
    flush(at: now, into: &output)
    output.apply(action)
  }

  private mutating func deliver(
    _ step: Step<[WaitingRoomFeature.Change]>,
    into output: inout ThrottleOutput<WaitingRoomFeature.Action>
  ) {
    guard let batch = step.output else { return }
    held.clear()
    output.apply(.changed(batch), events: step.applied)
  }
}
