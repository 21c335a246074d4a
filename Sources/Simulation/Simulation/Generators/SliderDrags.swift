package import HangSimulation
package import LiveEvents

/// Drags of sliders. A drag consists of a begin, changes at the rate of a real drag, and an end
/// that repeats the last value.
///
/// Rates vary between drags, like those of recorded drags with at least 20 changes: the median is
/// 33 changes/s, 95 % are below 100/s, and the fastest is 135/s.
package struct SliderDrags: EventGenerator {
  private enum Step {
    case begin
    case change(left: Int)
    case end
  }

  private let controls: [Text]
  private let meanPause: VirtualTime
  private var random: SeededGenerator
  private var time: VirtualTime
  private var step = Step.begin
  private var control = 0
  /// The values of the controls in thousandths.
  private var values: [Int]
  private var target = 0
  private var period = VirtualTime.zero

  package init(
    controls: [String], meanPause: VirtualTime, from start: VirtualTime, random: SeededGenerator
  ) {
    precondition(!controls.isEmpty)
    self.controls = controls.map { Text($0) }
    self.meanPause = meanPause
    self.random = random
    values = controls.map { _ in 500 }
    time = start + self.random.interval(mean: meanPause)
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    switch step {
    case .begin:
      control = random.integer(in: 0...(controls.count - 1))
      target = random.integer(in: 0...1000)
      period = VirtualTime(nanoseconds: 1_000_000_000_000 / Int64(Self.milliHertz(&random)))
      step = .change(left: random.integer(in: 20...120))
      defer { time += pause() }
      return slider(.begin)
    case .change(let left):
      values[control] = Self.moved(values[control], to: target, left: left, &random)
      step = left > 1 ? .change(left: left - 1) : .end
      defer { time += pause() }
      return slider(.change)
    case .end:
      step = .begin
      defer { time += random.interval(mean: meanPause) }
      return slider(.end)
    }
  }

  /// Returns a random rate of a drag, in changes per 1,000 seconds. The rates are distributed like
  /// the measured ones.
  static func milliHertz(_ random: inout SeededGenerator) -> Int {
    switch random.integer(in: 0...99) {
    case 0..<50: random.integer(in: 14_000...33_000)
    case 50..<95: random.integer(in: 33_000...100_000)
    default: random.integer(in: 100_000...134_000)
    }
  }

  /// Returns the pause before the next change. Some pauses are a quarter longer, because hands move
  /// irregularly. No pause is shorter than `period`, so that no drag exceeds the measured maximum
  /// rate.
  static func pause(_ period: Int64, _ random: inout SeededGenerator) -> Int64 {
    random.isOne(in: 8) ? period * 5 / 4 : period
  }

  /// Returns the next value on the way to `target`, in thousandths. `left` is the number of
  /// remaining changes.
  static func moved(
    _ value: Int, to target: Int, left: Int, _ random: inout SeededGenerator
  ) -> Int {
    let wobble = random.integer(in: -6...6)
    return min(max(value + (target - value) / left + (left > 1 ? wobble : 0), 0), 1000)
  }

  private mutating func pause() -> VirtualTime {
    VirtualTime(nanoseconds: Self.pause(period.nanoseconds, &random))
  }

  private func slider(_ phase: Slider.Phase) -> LiveEvent.Payload {
    .control(
      .slider(
        Slider(control: controls[control], phase: phase, value: Double(values[control]) / 1000)))
  }
}
