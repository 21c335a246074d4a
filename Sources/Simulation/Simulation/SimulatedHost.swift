package import HangSimulation
package import LiveEvents

/// The complete stream of a simulated host, from the waiting room to the end, as a sequence of
/// events in virtual time. Every part of the screen receives events. The same seed, start, and
/// duration give the same events on every machine.
package struct SimulatedHost: Sequence, IteratorProtocol, Sendable {
  /// How long people wait before the stream goes live.
  package static let waitingTime = VirtualTime.seconds(8)
  private static let recordingDelay = VirtualTime.milliseconds(1_400)

  private let startTimestamp: Timestamp
  private let duration: VirtualTime?
  private var generators: MergedGenerators<LiveEvent.Payload>

  /// Creates a stream that starts at `startTimestamp` and ends shortly before `duration` has
  /// passed. If `duration` is `nil`, the stream never ends.
  package init(seed: UInt64, startTimestamp: Timestamp, duration: VirtualTime? = nil) {
    self.startTimestamp = startTimestamp
    self.duration = duration
    let live = Self.waitingTime
    let recording = live + Self.recordingDelay
    let recordingEnd = duration.map { $0 - .seconds(3) }
    var stream: UInt64 = 0
    func random() -> SeededGenerator {
      stream += 1
      return SeededGenerator(seed: seed, stream: stream)
    }
    generators = MergedGenerators([
      WaitingRoomVisitors(
        meanInterval: .milliseconds(250), from: .milliseconds(200),
        opening: live - .milliseconds(100), random: random()),
      ScriptedEvents(Self.script(live: live, recording: recording, duration: duration)),
      ViewerWalk(goal: 2_400, from: live, random: random()),
      Reactions(meanInterval: .milliseconds(90), from: live, random: random()),
      StatisticsSamples(from: live, random: random()),
      LevelMeter(input: "microphone", from: .milliseconds(500), random: random()),
      LevelMeter(input: "game", from: live, random: random()),
      SliderDrags(
        controls: ["microphone", "game", "zoom", "brightness", "beauty"],
        meanPause: .seconds(4), from: .seconds(2), random: random()),
      SwitchTaps(
        controls: ["camera", "mirror", "subtitles"], meanInterval: .seconds(9),
        from: .seconds(1), random: random()),
      RecorderReports(from: recording, to: recordingEnd, random: random()),
      ChatMessages(
        meanInterval: .milliseconds(1_500), prefix: "simulated-\(seed)-", from: .seconds(1),
        random: random()),
    ])
  }

  package mutating func next() -> TimedEvent? {
    guard let time = generators.nextTime else { return nil }
    if let duration, time > duration { return nil }
    let timestamp = startTimestamp + time.milliseconds
    return TimedEvent(
      time: time, event: LiveEvent(timestamp: timestamp, payload: generators.next()))
  }

  private static func script(
    live: VirtualTime, recording: VirtualTime, duration: VirtualTime?
  ) -> [(time: VirtualTime, payload: LiveEvent.Payload)] {
    var steps: [(time: VirtualTime, payload: LiveEvent.Payload)] = [
      (.zero, .stream(.waiting)),
      (.milliseconds(100), .header(.title("Starting soon"))),
      (live, .stream(.live)),
      (live + .milliseconds(200), .header(.title("A quiet evening with the simulator"))),
      (recording - .milliseconds(400), .recorder(.state(.starting))),
      (recording, .recorder(.state(.recording))),
    ]
    if let duration, duration - .seconds(4) > recording {
      steps += [
        (duration - .seconds(3), .recorder(.state(.stopping))),
        (duration - .milliseconds(2_500), .recorder(.state(.idle))),
        (duration - .seconds(1), .stream(.ended)),
      ]
    }
    return steps
  }
}
