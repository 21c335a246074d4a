package import Intake
package import LiveEvents
package import RateLimiting

/// Gathers joins, leaves and admissions: all are kept, in order, in one action per frame. What the host
/// does, and what holds for the waiting room as a whole, passes at once, behind what came before it.
package struct WaitingRoomIntake: Intake {
  private var changes: Paced<KeepAll<WaitingRoomFeature.Change>>

  /// - Parameters:
  ///   - frame: the time from the first change of a batch to its delivery; above zero.
  ///   - capacity: the size at which a batch is delivered early; above zero.
  package init(frame: Interval = .nanoseconds(16_666_667), capacity: Int = 8_192) {
    changes = Paced(KeepAll(interval: frame, capacity: capacity))
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    changes.follow(policies[.waitingRoom].adaptive)
    changes.limiter.capacity = policies[.waitingRoom].capacity
  }

  package mutating func note(cost: Interval) { changes.record(cost: cost) }

  package var deadline: Instant? { changes.deadline }
  package var pending: Int { changes.pending }

  package mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    switch event.payload {
    case .waitingJoin(let person): gather(.joined(person), at: now, into: &output)
    case .waitingLeave(let person): gather(.left(person), at: now, into: &output)
    case .waitingAdmit(let person): gather(.admitted(person), at: now, into: &output)
    case .waitingSchedule(let start):
      pass(.scheduled(start, at: event.timestamp), at: now, into: &output)
    case .waitingCapacity(let capacity): pass(.capacityChanged(capacity), at: now, into: &output)
    case .host(.admit(let admission)):
      switch admission {
      case .next: pass(.admitNextTapped, at: now, into: &output)
      case .all: pass(.admitAllTapped, at: now, into: &output)
      case .person(let id): pass(.admitPersonTapped(id), at: now, into: &output)
      }
    case .chatMessage, .chatDelete, .chatClear, .chatTimeout, .chatNotice, .chatModes, .reaction,
      .viewers, .title, .slider, .tap, .stats, .meter, .recorderState, .recorderProgress, .stream,
      .host:
      // Events of other features; refused so that each event is accounted for.
      output.reject(.unknownType)
    }
  }

  package mutating func wake(
    at now: Instant, into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    deliver(changes.wake(at: now), into: &output)
  }

  package mutating func flush(
    at now: Instant, into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    deliver(changes.flush(at: now), into: &output)
  }

  private mutating func gather(
    _ change: WaitingRoomFeature.Change, at now: Instant,
    into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    deliver(changes.limiter.push(change, at: now), into: &output)
  }

  private mutating func pass(
    _ action: WaitingRoomFeature.Action, at now: Instant,
    into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    flush(at: now, into: &output)
    output.apply(action)
  }

  private func deliver(
    _ step: Step<[WaitingRoomFeature.Change]>,
    into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    if let batch = step.output { output.apply(.changed(batch), events: step.applied) }
  }
}
