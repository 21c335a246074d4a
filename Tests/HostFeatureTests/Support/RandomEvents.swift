import LiveEvents
import TestSupport

/// Generates random events of every type from a seed.
struct RandomEvents {
  private(set) var generator: SplitMix64
  private var number = 0

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  mutating func next() -> LiveEvent {
    number += 1
    return LiveEvent(timestamp: Timestamp(number), payload: payload())
  }

  private mutating func payload() -> LiveEvent.Payload {
    switch generator.pick(0..<54) {
    case 0..<8: .chat(.message(message()))
    case 8: .chat(.delete(messageID: Text("m\(generator.pick(0..<max(1, number)))")))
    case 9: .chat(.clear)
    case 10: .chat(.timeout(ChatTimeout(user: person(), seconds: generator.oneIn(2) ? nil : 60)))
    case 11: .chat(.notice(ChatNotice(kind: .raid, user: person(), count: generator.pick(1..<900))))
    case 12: .chat(.modes(ChatModes(slowSeconds: generator.pick(0..<30))))
    case 13..<17: .header(.reaction(kind: kind(), count: generator.pick(1..<50)))
    case 17..<19: .header(.viewers(count: generator.pick(0..<5_000)))
    case 19: .header(.title(Text("title \(number)")))
    case 20..<26: .control(.slider(slider()))
    case 26: .control(.tap(control: control(), on: generator.oneIn(2) ? nil : generator.oneIn(2)))
    case 27..<29: .control(.meter(input: control(), levels: [Float(generator.pick(0..<100)) / 100]))
    case 29..<32: .liveRoomStats(StreamStatistics(bitrateKbps: Double(generator.pick(0..<6_000))))
    case 32: .recorder(.state(RecorderState.allCases[generator.pick(0..<6)]))
    case 33..<35: .recorder(.progress(progress()))
    case 35, 36: .waitingRoom(.join(person()))
    case 37: .waitingRoom(.leave(person()))
    case 38: .waitingRoom(.admitted(person()))
    case 39:
      generator.oneIn(3)
        ? .waitingRoom(.pace(perSecond: generator.oneIn(2) ? nil : Double(generator.pick(1..<9))))
        : .waitingRoom(.capacity(generator.oneIn(2) ? nil : generator.pick(0..<9)))
    case 40: .waitingRoom(.schedule(startsAt: generator.oneIn(2) ? nil : Timestamp(number + 5_000)))
    case 41..<43: act()
    case 43..<47: poll()
    case 47..<49: .activity(activity())
    case 49..<51:
      .activity(.goal(Goal(title: kind(), count: generator.pick(0..<90), target: 100)))
    case 51..<53:
      .source(.state(SourceHealth(source: kind(), state: .behind, lost: generator.pick(0..<90))))
    case 53:
      .source(.gap(MissedTime(source: kind(), from: 1, to: Timestamp(number + 1), reason: "lost")))
    default: .stream(StreamState.allCases[generator.pick(0..<4)])
    }
  }

  private mutating func act() -> LiveEvent.Payload {
    switch generator.pick(0..<10) {
    case 0: .waitingRoom(.admit([.next, .all, .person(person().id)][generator.pick(0..<3)]))
    case 1: .control(.set(control: control(), value: Double(generator.pick(0..<100)) / 99))
    case 2: .chat(.filter(MessageFilter(words: "text", mentionsOnly: generator.oneIn(2))))
    case 3: .chat(.filter(MessageFilter()))
    case 4: .chat(.highlight(names: ["name"]))
    case 5: .chat(.scroll(generator.oneIn(2) ? .back : .end))
    case 6: .chat(.openThread(messageID: generator.oneIn(2) ? nil : Text("m\(number - 1)")))
    case 7: .chat(.openPerson(generator.oneIn(4) ? nil : PersonReference(id: person().id)))
    case 8:
      PersonNote(about: PersonReference(id: person().id), kind()).map { .chat(.notePerson($0)) }
        ?? .chat(.openPerson(nil))
    default:
      .chat(
        .handleNotice(
          number: generator.pick(1..<40), NoticeHandling.allCases[generator.pick(0..<3)]))
    }
  }

  private mutating func activity() -> ActivityEvent {
    switch generator.pick(0..<5) {
    case 0: .follow(user: person(), id: nil)
    case 1: .redemption(Redemption(user: person(), title: kind(), cost: generator.pick(0..<99)))
    case 2: .announcement(Announcement(text: "text"))
    case 3: .handle(number: generator.pick(1..<40), NoticeHandling.allCases[generator.pick(0..<3)])
    default:
      .hypeTrain(
        HypeTrain(phase: HypeTrain.Phase.allCases[generator.pick(0..<3)], level: 1, progress: 3))
    }
  }

  /// Returns a poll event, which usually matches the open poll.
  private mutating func poll() -> LiveEvent.Payload {
    let id = Text("p\(generator.oneIn(9) ? 1 : 0)")
    return switch generator.pick(0..<9) {
    case 0:
      .poll(
        .begin(
          PollQuestion(
            id: id, title: "title", options: ["a", "b"],
            endsAt: generator.oneIn(2) ? nil : Timestamp(number + 9_000))))
    case 1: .poll(.end(pollID: id, winner: generator.oneIn(2) ? nil : generator.pick(0..<3)))
    default:
      .poll(
        .votes(
          pollID: id,
          totals: (0..<(generator.oneIn(9) ? 3 : 2)).map { _ in generator.pick(0..<900) }))
    }
  }

  private mutating func message() -> ChatMessage {
    ChatMessage(
      id: "m\(number)", userID: "u\(generator.pick(0..<20))", userName: "name", text: "text")
  }

  private mutating func person() -> Person {
    let id = generator.pick(0..<20)
    return Person(id: Text("u\(id)"), name: Text("name \(id)"))
  }

  private mutating func kind() -> Text { Text(["heart", "clap", "fire"][generator.pick(0..<3)]) }

  private mutating func control() -> Text { Text(["mic", "game", "zoom"][generator.pick(0..<3)]) }

  private mutating func slider() -> Slider {
    // One in twenty values is out of range, so that the sums include rejections.
    Slider(
      control: control(), phase: Slider.Phase.allCases[generator.pick(0..<3)],
      value: Double(generator.pick(0..<105)) / 99)
  }

  private mutating func progress() -> RecorderProgress {
    let done = generator.pick(0..<1_000)
    return RecorderProgress(
      bytes: done, durationMilliseconds: done, done: done, total: generator.oneIn(2) ? nil : 1_000)
  }
}
