package import Intake
package import LiveEvents
package import RateLimiting

/// Gathers joins, leaves and admissions: all are kept, in order, in one action per frame.
package struct WaitingRoomIntake: Intake {
  private var changes: KeepAll<WaitingRoomFeature.Change>
  private var pace: AdaptiveInterval

  /// - Parameters:
  ///   - frame: the time from the first change of a batch to its delivery; above zero.
  ///   - capacity: the size at which a batch is delivered early; above zero.
  package init(frame: Interval = .nanoseconds(16_666_667), capacity: Int = 8_192) {
    changes = KeepAll(interval: frame, capacity: capacity)
    pace = AdaptiveInterval(wanted: frame, maximum: frame)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    pace = policies[.waitingRoom].adaptive
    changes.interval = pace.current
    changes.capacity = policies[.waitingRoom].capacity
  }

  package mutating func note(cost: Interval) {
    pace.record(cost: cost)
    changes.interval = pace.current
  }

  package var deadline: Instant? { changes.deadline }
  package var pending: Int { changes.pending }

  package mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    switch event.payload {
    case .waitingJoin(let person): deliver(changes.push(.joined(person), at: now), into: &output)
    case .waitingLeave(let person): deliver(changes.push(.left(person), at: now), into: &output)
    case .waitingAdmit(let person):
      deliver(changes.push(.admitted(person), at: now), into: &output)
    case .chatMessage, .chatDelete, .chatClear, .chatTimeout, .chatNotice, .chatModes, .reaction,
      .viewers, .title, .slider, .tap, .stats, .meter, .recorderState, .recorderProgress, .stream:
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

  private func deliver(
    _ step: Step<[WaitingRoomFeature.Change]>,
    into output: inout IntakeOutput<WaitingRoomFeature.Action>
  ) {
    if let batch = step.output { output.apply(.changed(batch), events: step.applied) }
  }
}
