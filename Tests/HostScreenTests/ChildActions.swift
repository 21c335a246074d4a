import ActivityFeature
import ChatFeature
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import RateLimiting
import RecorderFeature
import SourcesFeature
import TestSupport
import WaitingRoomFeature

/// Generates random actions of all children, which together change every field.
struct ChildActions: Sequence, IteratorProtocol {
  private var random: SplitMix64
  private var number = 0
  /// The identifier of the newest chat message.
  private var newest: Text = ""

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func next() -> HostFeature.Action? {
    number += 1
    let time = Timestamp(number * 40)
    return switch random.pick(0..<34) {
    case 0: .chat(.messages([message(at: time), message(at: time)]))
    case 1: .chat(.messageDeleted(Text("m\(random.pick(0..<number))"), at: time))
    case 2: .chat(.cleared(at: time))
    case 3: .chat(.timedOut(ChatTimeout(user: person(), seconds: 5), at: time))
    case 4: .chat(.notice(ChatNotice(kind: .raid, user: person(), count: 3), at: time))
    case 5: .chat(.modesChanged(ChatModes(slowSeconds: random.pick(0..<9))))
    case 28:
      .control(
        .surface(
          random.oneIn(2) ? .began(controller: 1, controls: ["lamp"]) : .ended(controller: 1)))
    case 29: .control(.reported(control: "zoom", .value(level())))
    case 6: .control(.sliderBegan(control: "zoom", value: level()))
    case 7: .control(.sliderMoved(control: "zoom", value: level()))
    case 8: .control(.sliderReleased(control: "zoom", value: level()))
    case 9: .control(.tapped(control: "camera", on: nil))
    case 10: .control(.meterRead(input: "microphone", levels: [Float(level())]))
    case 11:
      random.oneIn(2)
        ? .header(.titleChanged("title \(random.pick(0..<3))", from: source()))
        : .header(.categoryChanged("game \(random.pick(0..<3))", from: source()))
    case 12:
      .header(
        .viewersChanged(
          count: random.pick(0..<99), peak: random.pick(99..<999), from: source()))
    case 13: .header(.reacted(random.pick(0..<3)))
    case 14:
      .header(
        .streamChanged(StreamState.allCases[random.pick(0..<4)], at: time, from: source()))
    case 15: .header(.ticked(at: time))
    case 16: .liveRoomStats(.windowClosed(window(), from: source()))
    case 17: .recorder(recording())
    case 18: .chat(.reading(reading()))
    case 19: .waitingRoom(door(at: time))
    case 20: .header(.connectionChanged([.good, .fair, .poor, nil][random.pick(0..<4)]))
    case 21: .control(.ticked)
    case 22: .waitingRoom(.changed([.joined(person()), .left(person())]))
    case 23: .liveRoomStats(.ticked(at: time))
    case 24: .chat(.ticked(at: time))
    case 25, 26: poll(at: time)
    case 30, 31: .activity(activity(at: time))
    case 32:
      .sources(
        .reported(SourceHealth(source: "s", state: .live, lost: random.pick(0..<3)), at: time))
    case 33: .sources(.missed(MissedTime(source: "t", from: 0, to: time, reason: "lost"), at: time))
    default: .waitingRoom(.changed([.admitted(person())]))
    }
  }

  private mutating func reading() -> ChatFeature.Reading {
    switch random.pick(0..<8) {
    case 0: .scrolledBack
    case 1: .scrolledToEnd
    case 2: .filterChanged(random.oneIn(2) ? nil : ChatFilter(words: "text"))
    case 3: .mentionedNamesChanged(["name\(random.pick(0..<3))"])
    case 4: .threadOpened(messageID: newest)
    case 5: .personOpened(PersonReference(id: person().id))
    case 6: .personClosed
    default: .threadClosed
    }
  }

  private mutating func door(at time: Timestamp) -> WaitingRoomFeature.Action {
    switch random.pick(0..<5) {
    case 0: .admitNextTapped
    case 3: .paceChanged(Double(random.pick(1..<9)), at: time)
    case 1: .capacityChanged(random.pick(0..<9))
    case 2: .scheduled(time + 9_000, at: time)
    default: .ticked(at: time)
    }
  }

  private mutating func activity(at time: Timestamp) -> ActivityFeature.Action {
    switch random.pick(0..<5) {
    case 0: .followed(person(), at: time)
    case 1: .trainMoved(HypeTrain(phase: .progress, level: random.pick(1..<4)), at: time)
    case 2:
      .predicted(
        Prediction(
          id: "p", title: "title", state: .open, options: ["a"], totals: [random.pick(0..<9)]))
    case 3: .counted(Goal(title: "followers", count: random.pick(0..<9), target: 9))
    default: .dismissed(number)
    }
  }

  private mutating func poll(at time: Timestamp) -> HostFeature.Action {
    switch random.pick(0..<6) {
    case 0:
      .poll(
        .began(
          PollQuestion(
            id: Text("p\(number)"), title: Text("title \(number)"), options: ["a", "b"],
            endsAt: time + 9_000), at: time))
    case 1: .poll(.ended(winner: random.pick(0..<2)))
    case 2: .poll(.ticked(at: time))
    default: .poll(.voted([random.pick(0..<9), random.pick(0..<9)]))
    }
  }

  private mutating func recording() -> RecorderFeature.Action {
    let state = RecorderState.allCases[random.pick(0..<6)]
    return random.oneIn(2)
      ? .stateChanged(state) : .own(.restarted(isRecording: state == .recording))
  }

  private mutating func window() -> StatisticsWindow {
    return StatisticsWindow(
      bitrate: Summary(Double(random.pick(0..<9_000))),
      frameRate: Summary(Double(random.pick(20..<90))),
      droppedFrames: Summary(Double(random.pick(0..<99))),
      roundTrip: Summary(Double(random.pick(0..<900))), samples: random.pick(0..<3))
  }

  /// Returns the only source at first, then one of three.
  private mutating func source() -> Origin {
    let twitch = Origin(platform: "twitch")
    guard number > 400 else { return twitch }
    return [twitch, Origin(platform: "kick"), Origin.none][random.pick(0..<3)]
  }

  private mutating func level() -> Double { Double(random.pick(0..<5)) / 4 }

  private mutating func message(at time: Timestamp) -> TimedMessage {
    newest = Text("m\(number)")
    return TimedMessage(
      timestamp: time,
      message: ChatMessage(
        id: "m\(number)", userID: "u\(random.pick(0..<30))", userName: "name", text: "text"),
      origin: number % 3 == 0 ? Origin(platform: number % 2 == 0 ? "kick" : "twitch") : .none)
  }

  private mutating func person() -> Person {
    let id = random.pick(0..<6)
    return Person(id: Text("u\(id)"), name: Text("name \(id)"))
  }
}
