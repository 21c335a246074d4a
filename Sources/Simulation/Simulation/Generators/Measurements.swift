package import HangSimulation
package import LiveEvents

/// The number of viewers at regular intervals, as a random walk towards a goal.
package struct ViewerWalk: EventGenerator {
  private let period: VirtualTime
  private let goal: Int
  private var random: SeededGenerator
  private var time: VirtualTime
  private var viewers: Int

  package init(
    period: VirtualTime = .seconds(1), goal: Int, from start: VirtualTime, random: SeededGenerator
  ) {
    self.period = period
    self.goal = goal
    self.random = random
    time = start
    viewers = goal / 8
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    let spread = max(goal / 40, 1)
    viewers = max(0, viewers + (goal - viewers) / 20 + random.integer(in: -spread...spread))
    time += period
    return .header(.viewers(count: viewers))
  }
}

/// Statistics of the encoder and the connection at regular intervals, with an occasional bad
/// period.
package struct StatisticsSamples: EventGenerator {
  private let period: VirtualTime
  private var random: SeededGenerator
  private var time: VirtualTime
  private var droppedFrames = 0
  /// The number of samples left in the bad period.
  private var badSamples = 0

  package init(
    period: VirtualTime = .seconds(1), from start: VirtualTime, random: SeededGenerator
  ) {
    self.period = period
    self.random = random
    time = start
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    if badSamples > 0 { badSamples -= 1 } else if random.isOne(in: 40) { badSamples = 5 }
    let isBad = badSamples > 0
    if isBad { droppedFrames += random.integer(in: 1...12) }
    time += period
    return .liveRoomStats(
      StreamStatistics(
        bitrateKbps: Double(random.integer(in: isBad ? 1_800...2_600 : 5_700...6_200)),
        framesPerSecond: Double(random.integer(in: isBad ? 410...540 : 592...600)) / 10,
        droppedFrames: droppedFrames,
        roundTripMilliseconds: Double(random.integer(in: isBad ? 1_200...3_500 : 180...420)) / 10,
        congestion: Double(random.integer(in: isBad ? 350...900 : 0...60)) / 1000))
  }
}

/// A sound level meter with two channels, by default at 20 Hz, the rate of OBS Studio.
package struct LevelMeter: EventGenerator {
  private let input: Text
  private let period: VirtualTime
  private var random: SeededGenerator
  private var time: VirtualTime
  /// The level in thousandths.
  private var level = 300

  package init(
    input: String, period: VirtualTime = .milliseconds(50), from start: VirtualTime,
    random: SeededGenerator
  ) {
    self.input = Text(input)
    self.period = period
    self.random = random
    time = start
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    level = min(max(level + random.integer(in: -90...90), 0), 960)
    let other = level + random.integer(in: 0...40)
    time += period
    return .control(.meter(input: input, levels: [Float(level) / 1000, Float(other) / 1000]))
  }
}

/// The progress of a recorder since its start. The number of bytes and the time never decrease.
package struct RecorderReports: EventGenerator {
  private let period: VirtualTime
  private let start: VirtualTime
  private let end: VirtualTime?
  private var random: SeededGenerator
  private var time: VirtualTime
  private var bytes = 0

  package init(
    period: VirtualTime = .milliseconds(500), from start: VirtualTime, to end: VirtualTime?,
    random: SeededGenerator
  ) {
    self.period = period
    self.start = start
    self.end = end
    self.random = random
    time = start + period
  }

  package var nextTime: VirtualTime? {
    if let end, time > end { return nil }
    return time
  }

  package mutating func next() -> LiveEvent.Payload {
    bytes += random.integer(in: 330_000...410_000)
    let duration = Int((time - start).milliseconds)
    time += period
    return .recorder(.progress(RecorderProgress(bytes: bytes, durationMilliseconds: duration)))
  }
}
