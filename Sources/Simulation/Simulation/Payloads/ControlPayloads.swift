import HangSimulation
import LiveEvents
import YAMLReader

extension GeneratedType {
  static let control = [
    // A complete drag of one of the controls, whose rate of changes resembles recorded drags.
    GeneratedType("slider", keys: ["controls"]) { section throws(ConfigurationError) in
      PayloadPattern(
        names: try section.words("controls", default: ["microphone", "zoom", "beauty"]),
        isSized: false, .batch { state, _, emit in state.drag(emit) })
    },
    GeneratedType("tap", keys: ["controls"]) { section throws(ConfigurationError) in
      PayloadPattern(
        names: try section.words("controls", default: ["camera", "mirror"]),
        .event { state, _ in .control(state.tap()) })
    },
    GeneratedType("meter", keys: ["input"]) { section throws(ConfigurationError) in
      PayloadPattern(
        names: [try section["input"]?.text() ?? "microphone"], level: 300,
        .event { state, _ in .control(state.meter()) })
    },
  ]
}

extension PayloadMaker.State {
  fileprivate mutating func tap() -> ControlEvent {
    let index = random.integer(in: 0...(names.count - 1))
    values[index] = values[index] == 500 ? 501 : 500
    return .tap(control: names[index], on: values[index] == 501)
  }

  fileprivate mutating func meter() -> ControlEvent {
    level = min(max(level + random.integer(in: -90...90), 0), 960)
    let other = level + random.integer(in: 0...40)
    return .meter(input: names[0], levels: [Float(level) / 1000, Float(other) / 1000])
  }

  /// Emits a begin, changes at the rate of a real drag, and an end that repeats the last value.
  fileprivate mutating func drag(_ emit: PayloadMaker.Emit) {
    let control = random.integer(in: 0...(names.count - 1))
    let target = random.integer(in: 0...1000)
    let period = 1_000_000_000_000 / Int64(SliderDrags.milliHertz(&random))
    let changes = random.integer(in: 20...120)
    var offset = VirtualTime.zero
    emit(offset, 0, slider(control, .begin))
    for left in stride(from: changes, to: 0, by: -1) {
      offset.nanoseconds += SliderDrags.pause(period, &random)
      values[control] = SliderDrags.moved(values[control], to: target, left: left, &random)
      emit(offset, 0, slider(control, .change))
    }
    offset.nanoseconds += period
    emit(offset, 0, slider(control, .end))
  }

  private func slider(_ control: Int, _ phase: Slider.Phase) -> LiveEvent.Payload {
    .control(
      .slider(
        Slider(control: names[control], phase: phase, value: Double(values[control]) / 1000)))
  }
}
