import HangSimulation
import LiveEvents
import Simulation
import Testing
import WireFormats

@Suite struct SimulatedHostTests {
  private static let start: Timestamp = 1_767_225_600_000

  private func events(seed: UInt64 = 42, seconds: Int64 = 120) -> [TimedEvent] {
    Array(
      SimulatedHost(seed: seed, startTimestamp: Self.start, duration: .seconds(seconds)))
  }

  private func bytes(seed: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    for event in events(seed: seed, seconds: 60) {
      NativeEncoder.append(event.event, room: .main, to: &bytes)
    }
    return bytes
  }

  @Test func `equal seeds give the same simulated stream, and another seed gives another`() {
    #expect(bytes(seed: 1) == bytes(seed: 1))
    #expect(bytes(seed: 1) != bytes(seed: 2))
  }

  @Test func `the bytes of the simulated stream are the same on every machine`() {
    // FNV-1a, 64 bits.
    let hash = bytes(seed: 42).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    #expect(hash == 17_227_200_452_583_841_503)
  }

  @Test func `a longer simulated stream begins like a shorter one`() {
    let short = events(seconds: 20).filter { $0.time < .seconds(15) }
    let long = events(seconds: 40).filter { $0.time < .seconds(15) }
    #expect(short == long)
  }

  @Test func `the time of a simulated stream never decreases, and timestamps follow it`() {
    let events = events()
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(events.allSatisfy { $0.event.timestamp == Self.start + $0.time.milliseconds })
    #expect(events.allSatisfy { $0.time <= .seconds(120) })
  }

  @Test func `every line of a simulated stream can be decoded`() {
    var decoder = LineDecoder()
    for event in events(seconds: 30) {
      var bytes: [UInt8] = []
      NativeEncoder.append(event.event, room: .main, to: &bytes)
      let slab = ByteSlab(bytes.dropLast())
      let slice = ByteSlab.Slice(offset: 0, count: slab.count)
      guard case .event(let decoded, _) = decoder.decode(slab, line: slice, arrival: 0) else {
        Issue.record("The line could not be decoded: \(String(decoding: bytes, as: UTF8.self))")
        continue
      }
      #expect(decoded == event.event)
    }
  }

  @Test func `a simulated stream has all phases from the waiting room to the end`() {
    let states = events().compactMap { event -> StreamState? in
      if case .stream(let state) = event.event.payload { state } else { nil }
    }
    #expect(states == [.waiting, .live, .ended])
    let recorder = events().compactMap { event -> RecorderState? in
      if case .recorder(.state(let state)) = event.event.payload { state } else { nil }
    }
    #expect(recorder == [.starting, .recording, .stopping, .idle])
  }

  @Test func `when the simulated stream goes live, everybody has left the waiting room`() {
    var waiting: Set<Text> = []
    var admitted = 0
    for event in events() {
      switch event.event.payload {
      case .waitingRoom(.join(let person)): #expect(waiting.insert(person.id).inserted)
      case .waitingRoom(.leave(let person)): #expect(waiting.remove(person.id) != nil)
      case .waitingRoom(.admitted(let person)):
        #expect(waiting.remove(person.id) != nil)
        admitted += 1
      case .stream(.live): #expect(waiting.isEmpty && admitted > 5)
      default: break
      }
    }
  }

  @Test func `the progress of the simulated recorder never decreases`() {
    let progress = events().compactMap { event -> RecorderProgress? in
      if case .recorder(.progress(let progress)) = event.event.payload { progress } else { nil }
    }
    #expect(progress.count > 200)
    #expect(
      zip(progress, progress.dropFirst()).allSatisfy {
        $0.bytes < $1.bytes && $0.durationMilliseconds < $1.durationMilliseconds
      })
  }

  @Test func `simulated statistics arrive at 1 Hz and meter levels at 20 Hz`() {
    func times(_ isWanted: (LiveEvent.Payload) -> Bool) -> [Int64] {
      events().filter { isWanted($0.event.payload) }.map(\.time.milliseconds)
    }
    let statistics = times { if case .liveRoomStats = $0 { true } else { false } }
    #expect(zip(statistics, statistics.dropFirst()).allSatisfy { $1 - $0 == 1_000 })
    let meter = times {
      if case .control(.meter(let input, _)) = $0 { input == "game" } else { false }
    }
    #expect(zip(meter, meter.dropFirst()).allSatisfy { $1 - $0 == 50 })
    #expect(meter.count > 2_000)
  }

  @Test func `a simulated stream has events for every part of the screen`() {
    let types = Set(events().map { $0.event.payload.nativeType })
    let expected: Set = [
      "chat.message", "reaction", "viewers", "title", "slider", "tap", "stats", "meter",
      "recorder.state", "recorder.progress", "waiting.join", "waiting.leave", "waiting.admit",
      "stream",
    ]
    #expect(types == expected)
  }
}

@Suite struct SliderDragsTests {
  private struct Drag {
    var control: Text
    var changes: [(time: VirtualTime, value: Double)] = []
    var end: Double?

    /// The number of changes per second.
    var rate: Double {
      guard let first = changes.first, let last = changes.last else { return 0 }
      return Double(changes.count - 1) * 1e9
        / Double(last.time.nanoseconds - first.time.nanoseconds)
    }
  }

  private func drags(_ count: Int) -> [Drag] {
    var source = SliderDrags(
      controls: ["a", "b"], meanPause: .seconds(1), from: .zero, random: SeededGenerator(seed: 3))
    var drags: [Drag] = []
    while drags.count < count || drags.last?.end == nil, let time = source.nextTime {
      guard case .control(.slider(let slider)) = source.next() else { continue }
      switch slider.phase {
      case .begin: drags.append(Drag(control: slider.control))
      case .change: drags[drags.count - 1].changes.append((time, slider.value))
      case .end: drags[drags.count - 1].end = slider.value
      }
      #expect(drags.last?.control == slider.control)
    }
    return drags
  }

  @Test func `the rates of simulated drags match those of real drags`() {
    let rates = drags(2_000).map(\.rate).sorted()
    #expect((30.0...34.0).contains(rates[1_000]))
    #expect((90.0...110.0).contains(rates[1_900]))
    #expect(rates[1_999] <= 135)
    #expect(rates[1_999] > 120)
  }

  @Test func `a simulated drag has a beginning, at least twenty changes, and an end`() {
    for drag in drags(200) {
      #expect(drag.changes.count >= 20)
      #expect(drag.end == drag.changes.last?.value)
      #expect(drag.changes.allSatisfy { (0...1).contains($0.value) })
    }
  }
}
