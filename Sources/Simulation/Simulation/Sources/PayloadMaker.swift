import LiveEvents

/// Makes the events of a generated source.
struct PayloadMaker {
  private let kind: PayloadKind
  private let number: Int
  private var random: SeededGenerator
  private let names: [Text]
  /// How many occasions there were.
  private var occasions = 0
  /// A walking number: viewers, a level, bytes, a slider's place.
  private var level: Int
  private var values: [Int]

  init(_ kind: PayloadKind, number: Int, random: SeededGenerator) {
    self.kind = kind
    self.number = number
    self.random = random
    switch kind {
    case .reaction(let names), .slider(let names), .tap(let names):
      self.names = names.map { Text($0) }
    case .meter(let input): names = [Text(input)]
    default: names = []
    }
    values = names.map { _ in 500 }
    switch kind {
    case .viewers(let goal): level = goal / 8
    case .meter: level = 300
    default: level = 0
    }
  }

  /// Calls `emit` for each event of one occasion, with how long after it the event happens and its
  /// number within the batch.
  mutating func make(
    at time: VirtualTime, size: Int, _ company: inout Company,
    _ emit: (_ offset: VirtualTime, _ index: Int, LiveEvent.Payload) -> Void
  ) {
    occasions += 1
    switch kind {
    case .slider: makeDrag(emit)
    case .chatNotice(.giftBomb): makeGiftBomb(size, emit)
    default:
      for index in 0..<size { emit(.zero, index, payload(&company)) }
    }
  }

  private mutating func payload(_ company: inout Company) -> LiveEvent.Payload {
    switch kind {
    case .fixed(let payload): return payload
    case .chatMessage(let people): return .chatMessage(message(people, &company))
    case .chatDelete: return .chatDelete(messageID: company.recentMessage(&random))
    case .chatClear: return .chatClear
    case .chatTimeout(let seconds):
      return .chatTimeout(ChatTimeout(user: person(60), seconds: seconds))
    case .chatNotice(let kind):
      let count = kind == .subscribe || kind == .gift ? 1 : random.integer(in: 2...500)
      return .chatNotice(ChatNotice(kind: kind, user: person(60), count: count))
    case .chatModes: return .chatModes(ChatModes(slowSeconds: occasions % 2 == 1 ? 10 : 0))
    case .reaction: return .reaction(kind: random.pick(names), count: random.integer(in: 1...5))
    case .viewers(let goal): return .viewers(count: viewers(goal))
    case .title: return .title(Text("Part \(occasions)"))
    case .tap:
      let index = random.integer(in: 0...(names.count - 1))
      values[index] = values[index] == 500 ? 501 : 500
      return .tap(control: names[index], on: values[index] == 501)
    case .stats: return .stats(statistics())
    case .meter: return meter()
    case .recorderState:
      return .recorderState(occasions % 2 == 1 ? .recording : .paused)
    case .recorderProgress:
      level += random.integer(in: 330_000...410_000)
      return .recorderProgress(
        RecorderProgress(bytes: level, durationMilliseconds: occasions * 500))
    case .waitingJoin: return .waitingJoin(company.join())
    case .waitingLeave: return .waitingLeave(company.leave())
    case .waitingAdmit: return .waitingAdmit(company.leave())
    case .stream: return .stream(occasions % 2 == 1 ? .live : .paused)
    case .slider: return .tap(control: "slider", on: nil)
    }
  }

  private mutating func person(_ people: Int) -> Person {
    let name = Text(People.name(random.integer(in: 0...(people - 1))))
    return Person(id: name, name: name)
  }

  private mutating func message(_ people: Int, _ company: inout Company) -> ChatMessage {
    let name = People.name(random.integer(in: 0...(people - 1)))
    return ChatMessage(
      id: company.newMessage(), userID: name, userName: name, text: random.pick(Self.texts))
  }

  private static let texts = [
    "love the intro", "what about the map", "again, please", "please show the cat",
    "wow, that jump",
    "nice: the new song", "who is that?", "hello from the train", "this is the best part",
    "can you turn the microphone up a little?",
  ]

  private mutating func viewers(_ goal: Int) -> Int {
    let spread = max(goal / 40, 1)
    level = max(0, level + (goal - level) / 20 + random.integer(in: -spread...spread))
    return level
  }

  private mutating func meter() -> LiveEvent.Payload {
    level = min(max(level + random.integer(in: -90...90), 0), 960)
    let other = level + random.integer(in: 0...40)
    return .meter(input: names[0], levels: [Float(level) / 1000, Float(other) / 1000])
  }

  /// Good, with a bad spell of five samples in 40.
  private mutating func statistics() -> StreamStatistics {
    let isBad = occasions % 40 >= 35
    if isBad { level += random.integer(in: 1...12) }
    return StreamStatistics(
      bitrateKbps: Double(random.integer(in: isBad ? 1_800...2_600 : 5_700...6_200)),
      framesPerSecond: Double(random.integer(in: isBad ? 410...540 : 592...600)) / 10,
      droppedFrames: level,
      roundTripMilliseconds: Double(random.integer(in: isBad ? 1_200...3_500 : 180...420)) / 10,
      congestion: Double(random.integer(in: isBad ? 350...900 : 0...60)) / 1000)
  }

  /// One parent and its gifts, which belong to it by their group.
  private mutating func makeGiftBomb(
    _ size: Int, _ emit: (VirtualTime, Int, LiveEvent.Payload) -> Void
  ) {
    let giver = person(60)
    let group = Text("bomb-\(number)-\(occasions)")
    emit(
      .zero, 0,
      .chatNotice(ChatNotice(kind: .giftBomb, user: giver, count: size, group: group)))
    let gift = LiveEvent.Payload.chatNotice(
      ChatNotice(kind: .gift, user: giver, count: 1, group: group))
    for index in 0..<size { emit(.zero, index + 1, gift) }
  }

  /// A begin, changes at the rate of a real drag, and an end that repeats the last value.
  private mutating func makeDrag(_ emit: (VirtualTime, Int, LiveEvent.Payload) -> Void) {
    let control = random.integer(in: 0...(names.count - 1))
    let target = random.integer(in: 0...1000)
    let period = 1_000_000_000_000 / Int64(SliderDrags.milliHertz(&random))
    let changes = random.integer(in: 20...120)
    var offset = VirtualTime.zero
    func slider(_ phase: Slider.Phase) -> LiveEvent.Payload {
      .slider(
        Slider(control: names[control], phase: phase, value: Double(values[control]) / 1000))
    }
    emit(offset, 0, slider(.begin))
    for left in stride(from: changes, to: 0, by: -1) {
      offset.nanoseconds += SliderDrags.pause(period, &random)
      values[control] = SliderDrags.moved(values[control], to: target, left: left, &random)
      emit(offset, 0, slider(.change))
    }
    offset.nanoseconds += period
    emit(offset, 0, slider(.end))
  }
}
