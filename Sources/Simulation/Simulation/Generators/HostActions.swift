package import HangSimulation
package import LiveEvents

/// Taps on switches. Each tap flips its switch.
package struct SwitchTaps: EventGenerator {
  private let controls: [Text]
  private let meanInterval: VirtualTime
  private var random: SeededGenerator
  private var time: VirtualTime
  private var positions: [Bool]

  package init(
    controls: [String], meanInterval: VirtualTime, from start: VirtualTime, random: SeededGenerator
  ) {
    precondition(!controls.isEmpty)
    self.controls = controls.map { Text($0) }
    self.meanInterval = meanInterval
    self.random = random
    positions = controls.map { _ in false }
    time = start + self.random.interval(mean: meanInterval)
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    let index = random.integer(in: 0...(controls.count - 1))
    positions[index].toggle()
    time += random.interval(mean: meanInterval)
    return .control(.tap(control: controls[index], on: positions[index]))
  }
}

/// A predefined list of events.
package struct ScriptedEvents: EventGenerator {
  private let steps: [(time: VirtualTime, payload: LiveEvent.Payload)]
  private var index = 0

  /// - Parameter steps: The events, in order of time.
  package init(_ steps: [(time: VirtualTime, payload: LiveEvent.Payload)]) {
    precondition(zip(steps, steps.dropFirst()).allSatisfy { $0.time <= $1.time })
    self.steps = steps
  }

  package var nextTime: VirtualTime? { index < steps.count ? steps[index].time : nil }

  package mutating func next() -> LiveEvent.Payload {
    defer { index += 1 }
    return steps[index].payload
  }
}
