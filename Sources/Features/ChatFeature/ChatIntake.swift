package import Intake
package import LiveEvents
package import RateLimiting

/// Thins chat: messages are kept, all of them, in one action per frame; moderation, notices, modes and
/// what the host does pass at once, behind the messages that came before them.
package struct ChatIntake: Intake {
  private var messages: Paced<KeepAll<TimedMessage>>

  /// - Parameters:
  ///   - frame: the time from the first message of a batch to its delivery; above zero.
  ///   - capacity: the size at which a batch is delivered early; above zero.
  package init(frame: Interval = .nanoseconds(16_666_667), capacity: Int = 8_192) {
    messages = Paced(KeepAll(interval: frame, capacity: capacity))
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    messages.follow(policies[.chat].adaptive)
    messages.limiter.capacity = policies[.chat].capacity
  }

  package mutating func note(cost: Interval) { messages.record(cost: cost) }

  package var deadline: Instant? { messages.deadline }
  package var pending: Int { messages.pending }

  package mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<ChatFeature.Action>
  ) {
    let time = event.timestamp
    switch event.payload {
    case .chatMessage(let message):
      let step = messages.limiter.push(TimedMessage(timestamp: time, message: message), at: now)
      deliver(step, into: &output)
    case .chatDelete(let id): pass(.messageDeleted(id, at: time), at: now, into: &output)
    case .chatClear: pass(.cleared(at: time), at: now, into: &output)
    case .chatTimeout(let timeout): pass(.timedOut(timeout, at: time), at: now, into: &output)
    case .chatNotice(let notice): pass(.notice(notice, at: time), at: now, into: &output)
    case .chatModes(let modes): pass(.modesChanged(modes), at: now, into: &output)
    case .host(let input):
      guard let reading = ChatFeature.Reading(input) else { return output.reject(.unknownType) }
      pass(.reading(reading), at: now, into: &output)
    case .reaction, .viewers, .title, .slider, .tap, .stats, .meter, .recorderState,
      .recorderProgress, .waitingJoin, .waitingLeave, .waitingAdmit, .waitingSchedule,
      .waitingCapacity, .stream:
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

extension ChatFeature.Reading {
  /// What the host did to the chat; `nil` if it was to something else.
  fileprivate init?(_ input: HostInput) {
    switch input {
    case .filterChat(let filter):
      self = .filterChanged(
        ChatFilter(
          person: filter.person?.owned(), words: filter.words.map { String($0) } ?? "",
          mentionsOnly: filter.mentionsOnly))
    case .highlight(let names): self = .mentionedNamesChanged(names.map { String($0) })
    case .scroll(.back): self = .scrolledBack
    case .scroll(.end): self = .scrolledToEnd
    case .openThread(let id?): self = .threadOpened(messageID: id)
    case .openThread(nil): self = .threadClosed
    case .notice(let number, .pin): self = .noticePinned(number)
    case .notice(let number, .unpin): self = .noticeUnpinned(number)
    case .notice(let number, .dismiss): self = .noticeDismissed(number)
    case .admit, .set: return nil
    }
  }
}
