package import Intake
package import LiveEvents
package import RateLimiting

/// Thins chat: messages are kept, all of them, in one action per frame; moderation, notices and
/// modes pass at once, behind the messages that came before them.
package struct ChatIntake: Intake {
  private var messages: KeepAll<TimedMessage>
  private var pace: AdaptiveInterval

  /// - Parameters:
  ///   - frame: the time from the first message of a batch to its delivery; above zero.
  ///   - capacity: the size at which a batch is delivered early; above zero.
  package init(frame: Interval = .nanoseconds(16_666_667), capacity: Int = 8_192) {
    messages = KeepAll(interval: frame, capacity: capacity)
    pace = AdaptiveInterval(wanted: frame, maximum: frame)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    pace = policies[.chat].adaptive
    messages.interval = pace.current
    messages.capacity = policies[.chat].capacity
  }

  package mutating func note(cost: Interval) {
    pace.record(cost: cost)
    messages.interval = pace.current
  }

  package var deadline: Instant? { messages.deadline }
  package var pending: Int { messages.pending }

  package mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<ChatFeature.Action>
  ) {
    let time = event.timestamp
    switch event.payload {
    case .chatMessage(let message):
      let step = messages.push(TimedMessage(timestamp: time, message: message), at: now)
      deliver(step, into: &output)
    case .chatDelete(let id): pass(.messageDeleted(id, at: time), at: now, into: &output)
    case .chatClear: pass(.cleared(at: time), at: now, into: &output)
    case .chatTimeout(let timeout): pass(.timedOut(timeout, at: time), at: now, into: &output)
    case .chatNotice(let notice): pass(.notice(notice, at: time), at: now, into: &output)
    case .chatModes(let modes): pass(.modesChanged(modes), at: now, into: &output)
    case .reaction, .viewers, .title, .slider, .tap, .stats, .meter, .recorderState,
      .recorderProgress, .waitingJoin, .waitingLeave, .waitingAdmit, .stream:
      // Events of other features; refused so that each event is accounted for.
      output.reject(.unknownType)
    }
  }

  package mutating func wake(
    at now: Instant, into output: inout IntakeOutput<ChatFeature.Action>
  ) {
    deliver(messages.wake(at: now), into: &output)
  }

  package mutating func flush(
    at now: Instant, into output: inout IntakeOutput<ChatFeature.Action>
  ) {
    deliver(messages.flush(at: now), into: &output)
  }

  private mutating func pass(
    _ action: ChatFeature.Action, at now: Instant,
    into output: inout IntakeOutput<ChatFeature.Action>
  ) {
    flush(at: now, into: &output)
    output.apply(action)
  }

  private func deliver(
    _ step: Step<[TimedMessage]>, into output: inout IntakeOutput<ChatFeature.Action>
  ) {
    if let batch = step.output { output.apply(.messages(batch), events: step.applied) }
  }
}
