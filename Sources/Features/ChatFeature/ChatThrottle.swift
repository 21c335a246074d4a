package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles the chat. Keeps all messages, and passes them in one action per frame. Moderation,
/// notices, modes, and host actions pass immediately, after all earlier messages.
package struct ChatThrottle: PartThrottle {
  private var messages: Paced<KeepAll<TimedMessage>>
  private var held = HeldBytes()
  /// The origin of the next received event.
  package var origin = Origin.none

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    let pacing = policies[.chat]
    messages = Paced(KeepAll(interval: pacing.interval, capacity: pacing.capacity))
    messages.follow(pacing.adaptive)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    messages.follow(policies[.chat].adaptive)
    messages.limiter.capacity = policies[.chat].capacity
  }

  package mutating func record(cost: Interval) { messages.record(cost: cost) }

  package var deadline: Instant? { messages.deadline }
  package var pending: Int { messages.pending }

  package mutating func receive(
    _ event: consuming ChatEvent, timestamp time: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<ChatFeature.Action>
  ) {
    switch consume event {
    case .message(let message):
      let byteCount = message.byteCount
      let step = messages.limiter.push(
        TimedMessage(timestamp: time, message: consume message, origin: origin), at: now)
      deliver(step, into: &output)
      if held.add(byteCount) { flush(at: now, into: &output) }
    case .delete(let id): pass(.messageDeleted(id, at: time), at: now, into: &output)
    case .clear: pass(.cleared(at: time), at: now, into: &output)
    case .timeout(let timeout): pass(.timedOut(timeout, at: time), at: now, into: &output)
    case .notice(let notice):
      pass(.notice(notice, at: time, from: origin), at: now, into: &output)
    case .modes(let modes): pass(.modesChanged(modes), at: now, into: &output)
    case .filter(let filter):
      let newFilter = ChatFilter(
        person: filter.person?.owned(), words: filter.words.map { String($0) } ?? "",
        mentionsOnly: filter.mentionsOnly, platform: filter.platform?.owned())
      pass(.reading(.filterChanged(newFilter)), at: now, into: &output)
    case .highlight(let names):
      pass(.reading(.mentionedNamesChanged(names.map { String($0) })), at: now, into: &output)
    case .scroll(.back): pass(.reading(.scrolledBack), at: now, into: &output)
    case .scroll(.end): pass(.reading(.scrolledToEnd), at: now, into: &output)
    case .openThread(let id?): pass(.reading(.threadOpened(messageID: id)), at: now, into: &output)
    case .openThread(nil): pass(.reading(.threadClosed), at: now, into: &output)
    case .openPerson(let person?): pass(.reading(.personOpened(person)), at: now, into: &output)
    case .openPerson(nil): pass(.reading(.personClosed), at: now, into: &output)
    case .notePerson(let note): pass(.reading(.personNoted(note)), at: now, into: &output)
    case .handleNotice(let number, let handling):
      let action: ChatFeature.Reading =
        switch handling {
        case .pin: .noticePinned(number)
        case .unpin: .noticeUnpinned(number)
        case .dismiss: .noticeDismissed(number)
        }
      pass(.reading(action), at: now, into: &output)
    // Findings concern earlier messages, so held messages need not be released first.
    case .findings(let findings): output.apply(.analysed(findings))
    }
  }

  package mutating func wake(
    at now: Instant, into output: inout ThrottleOutput<ChatFeature.Action>
  ) {
    deliver(messages.wake(at: now), into: &output)
  }

  package mutating func flush(
    at now: Instant, into output: inout ThrottleOutput<ChatFeature.Action>
  ) {
    deliver(messages.flush(at: now), into: &output)
  }

  private mutating func pass(
    _ action: ChatFeature.Action, at now: Instant,
    into output: inout ThrottleOutput<ChatFeature.Action>
  ) {
    flush(at: now, into: &output)
    output.apply(action)
  }

  private mutating func deliver(
    _ step: Step<[TimedMessage]>, into output: inout ThrottleOutput<ChatFeature.Action>
  ) {
    guard let batch = step.output else { return }
    held.clear()
    output.apply(.messages(batch), events: step.applied)
  }
}
