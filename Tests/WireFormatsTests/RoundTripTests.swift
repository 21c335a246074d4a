import LiveEvents
import TestSupport
import Testing
import WireFormats

/// Generates events of every type, with texts and numbers from their whole ranges.
struct EventGenerator {
  var random: SplitMix64

  mutating func event() -> LiveEvent {
    let payload = payload()
    return LiveEvent(
      timestamp: Int64(below(253_402_300_800_000)), payload: payload, origin: origin(of: payload))
  }

  /// Returns one of a few origins, because a process distinguishes at most ``Origin/limit``
  /// origins.
  private mutating func origin(of payload: LiveEvent.Payload) -> Origin {
    switch payload {
    case .source, .chat(.filter), .chat(.openPerson), .chat(.notePerson): .none
    default:
      Origin(
        platform: ["", "twitch", "you\"tube", "é"][below(4)], source: ["", "main", "a\n"][below(3)])
    }
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func count() -> Int { below(1_000_000_001) }
  private mutating func fraction() -> Double { Double.random(in: 0...1, using: &random) }
  private mutating func maybe<T>(_ make: (inout Self) -> T) -> T? {
    below(3) == 0 ? nil : make(&self)
  }

  private mutating func name() -> Text { Text("n" + string()) }
  private mutating func text() -> Text { Text(string()) }
  private mutating func person() -> Person { Person(id: name(), name: text()) }

  mutating func string() -> String {
    let alphabet: [Unicode.Scalar] = [
      "a", "Z", " ", "\"", "\\", "/", "\u{0}", "\u{1F}", "\n", "\r", "\t", "\u{7F}", "é", "€", "😀",
      "{", "}", ":", ",", "\u{2028}", "\u{10FFFF}", "u",
    ]
    var scalars = String.UnicodeScalarView()
    for _ in 0..<below(12) { scalars.append(alphabet[below(alphabet.count)]) }
    return String(scalars)
  }

  private mutating func notice() -> ChatNotice {
    var notice = ChatNotice(
      kind: ChatNotice.Kind.allCases[below(6)], user: person(), count: count(),
      group: maybe { $0.name() }, id: maybe { $0.name() })
    if below(2) == 0 {
      notice.message = ChatMessage(
        id: notice.id.map { String($0) } ?? "", userID: String(notice.user.id),
        userName: String(notice.user.name), badges: maybe { $0.string() } ?? "",
        text: "t" + string(), replyTo: string(), bits: UInt32(below(3)),
        channel: maybe { "n" + $0.string() } ?? "", isAction: below(2) == 0, emotes: [0..<1],
        kind: notice.kind.rawValue)
    }
    return notice
  }

  private mutating func payload() -> LiveEvent.Payload {
    switch below(37) {
    case 0:
      .chat(
        .message(
          ChatMessage(
            id: "n" + string(), userID: "u" + string(), userName: string(), badges: string(),
            color: maybe { NameColor(rgb: UInt32($0.below(1 << 24))) },
            text: string(), replyTo: string(), bits: UInt32(count()),
            channel: maybe { "n" + $0.string() } ?? "", isAction: below(2) == 0,
            emotes: (0..<below(4)).map { _ in
              let start = below(12)
              return start..<(start + below(5))
            }, kind: maybe { "n" + $0.string() } ?? "")))
    case 1: .chat(.delete(messageID: name()))
    case 2: .chat(.clear)
    case 3:
      .chat(
        .timeout(
          ChatTimeout(
            user: below(4) == 0 ? Person(id: "", name: name()) : person(),
            seconds: maybe { $0.count() })))
    case 4: .chat(.notice(notice()))
    case 5:
      .chat(
        .modes(
          ChatModes(
            slowSeconds: count(), emoteOnly: maybe { $0.below(2) == 0 },
            followersOnlyMinutes: maybe { $0.below(9) - 1 },
            subscribersOnly: maybe { $0.below(2) == 0 }, uniqueOnly: maybe { $0.below(2) == 0 })))
    case 6: .header(.reaction(kind: name(), count: count()))
    case 7: .header(.viewers(count: count()))
    case 8: .header(below(2) == 0 ? .title(text()) : .category(name()))
    case 9:
      .control(
        .slider(Slider(control: name(), phase: Slider.Phase.allCases[below(3)], value: fraction())))
    case 10: .control(.tap(control: name(), on: maybe { $0.below(2) == 0 }))
    case 11:
      .liveRoomStats(
        StreamStatistics(
          bitrateKbps: fraction() * 1e9, framesPerSecond: maybe { $0.fraction() * 1e-7 },
          droppedFrames: maybe { $0.count() }, roundTripMilliseconds: maybe { $0.fraction() },
          congestion: maybe { $0.fraction() }))
    case 12: .control(.meter(input: name(), levels: (0..<below(9)).map { _ in Float(fraction()) }))
    case 13: .recorder(.state(RecorderState.allCases[below(6)]))
    case 14:
      .recorder(
        .progress(
          RecorderProgress(
            bytes: below(1 << 53), durationMilliseconds: count(), done: maybe { $0.count() },
            total: maybe { $0.count() })))
    case 15: .waitingRoom(.join(person()))
    case 16: .waitingRoom(.leave(person()))
    case 17: .waitingRoom(.admitted(person()))
    case 18: .waitingRoom(.schedule(startsAt: maybe { Int64($0.below(253_402_300_800_000)) }))
    case 19:
      below(2) == 0
        ? .waitingRoom(.capacity(maybe { $0.count() }))
        : .waitingRoom(.pace(perSecond: maybe { Double($0.below(100_000) + 1) / 100 }))
    case 20..<28: act()
    case 28:
      .poll(
        .begin(
          PollQuestion(
            id: name(), title: text(), options: (0...below(32)).map { _ in name() },
            endsAt: maybe { Int64($0.below(253_402_300_800_000)) })))
    case 29: .poll(.votes(pollID: name(), totals: (0..<below(33)).map { _ in count() }))
    case 31:
      .control(
        .state(
          control: name(), below(2) == 0 ? .value(fraction()) : .position(on: below(2) == 0)))
    case 33: .activity(activity())
    case 34: .activity(.prediction(prediction()))
    case 35:
      .source(
        .state(
          SourceHealth(
            source: name(), state: SourceHealth.Connection.allCases[below(5)],
            platform: maybe { $0.name() }, reason: maybe { $0.name() },
            behindMilliseconds: maybe { $0.count() }, lost: count(), backfilled: count(),
            duplicate: count(), notShown: maybe { 1 + $0.count() })))
    case 36:
      .source(
        .gap(
          MissedTime(source: name(), from: Int64(below(9)), to: Int64(9 + count()), reason: name()))
      )
    case 30: .poll(.end(pollID: name(), winner: maybe { $0.below(32) }))
    default: .stream(StreamState.allCases[below(4)])
    }
  }

  private mutating func activity() -> ActivityEvent {
    switch below(7) {
    case 0: .follow(user: person(), id: maybe { $0.name() })
    case 1:
      .redemption(
        Redemption(
          user: person(), title: name(), cost: maybe { $0.count() },
          text: Text("t" + string()), emotes: below(2) == 0 ? [0..<1] : [],
          id: maybe { $0.name() }))
    case 2:
      .announcement(
        Announcement(
          user: maybe { $0.person() }, text: Text("t" + string()),
          emotes: below(2) == 0 ? [0..<1] : [], id: maybe { $0.name() }))
    case 5: .redemption(Redemption(user: person(), title: name()))
    case 3: .goal(Goal(title: name(), count: count(), target: count()))
    case 4: .handle(number: count(), NoticeHandling.allCases[below(3)])
    default:
      .hypeTrain(
        HypeTrain(
          phase: HypeTrain.Phase.allCases[below(3)], level: count(), total: maybe { $0.count() },
          progress: maybe { $0.count() }, goal: maybe { $0.count() },
          endsAt: maybe { Int64($0.below(253_402_300_800_000)) }))
    }
  }

  private mutating func prediction() -> Prediction {
    let options = (0...below(32)).map { _ in name() }
    return Prediction(
      id: name(), title: text(), state: Prediction.State.allCases[below(4)], options: options,
      totals: below(2) == 0 ? [] : options.map { _ in count() },
      winner: maybe { $0.below(options.count) },
      endsAt: maybe { Int64($0.below(253_402_300_800_000)) })
  }

  private mutating func reference() -> PersonReference {
    PersonReference(id: name(), platform: maybe { $0.name() })
  }

  private mutating func act() -> LiveEvent.Payload {
    switch below(11) {
    case 0: .waitingRoom(.admit(.next))
    case 1: .waitingRoom(.admit(.all))
    case 2: .waitingRoom(.admit(.person(name())))
    case 3: .control(.set(control: name(), value: fraction()))
    case 4:
      .chat(
        .filter(
          MessageFilter(
            person: maybe { $0.name() }, words: maybe { $0.name() }, mentionsOnly: below(2) == 0,
            platform: maybe { $0.name() })))
    case 5: .chat(.highlight(names: (0..<below(33)).map { _ in name() }))
    case 6: .chat(.scroll(ScrollPosition.allCases[below(2)]))
    case 7: .chat(.openThread(messageID: maybe { $0.name() }))
    case 8: .chat(.openPerson(maybe { $0.reference() }))
    case 9:
      PersonNote(about: reference(), name()).map { .chat(.notePerson($0)) }
        ?? .chat(.openPerson(nil))
    default: .chat(.handleNotice(number: count(), NoticeHandling.allCases[below(3)]))
    }
  }
}

@Suite struct RoundTripTests {
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `an encoded event decodes to an equal event`(seed: UInt64) {
    var generator = EventGenerator(random: SplitMix64(seed: seed))
    for _ in 0..<3000 {
      let event = generator.event()
      var line: [UInt8] = []
      NativeEncoder.append(event, room: RoomName("r"), to: &line)
      #expect(line.last == 0x0A && line.count { $0 == 0x0A } == 1)
      let decoded = decode(line.dropLast())
      #expect(
        decoded == Outcome(event: event, room: "r"),
        "\(String(decoding: line, as: UTF8.self))")
    }
  }

  @Test func `encoding into a long array does not copy the array`() {
    var generator = EventGenerator(random: SplitMix64(seed: 9))
    var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 10_000)
    bytes.reserveCapacity(1 << 20)
    let place = bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
    for _ in 0..<100 {
      NativeEncoder.append(generator.event(), to: &bytes)
      #expect(bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } == place)
    }
  }

  @Test func `encoding appends to the array, and leaves out the room if the room is nil`() {
    var bytes = Array("x".utf8)
    NativeEncoder.append(LiveEvent(timestamp: 5, payload: .header(.viewers(count: 1))), to: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self) == "x{\"type\":\"viewers\",\"ts\":5,\"count\":1}\n")
  }
}
