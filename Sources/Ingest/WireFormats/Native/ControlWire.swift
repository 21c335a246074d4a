import JSON
import LiveEvents

extension ControlEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case slider, tap, meter
    case set = "host.set"
  }

  var nativeType: NativeType {
    switch self {
    case .slider: .slider
    case .tap: .tap
    case .meter: .meter
    case .set: .set
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .slider:
        .slider(
          Slider(
            control: try line.name(.control), phase: try line.choice(.phase),
            value: try line.number(.value, in: EventLimits.fraction)))
      case .tap: .tap(control: try line.name(.control), on: try line.optionalBool(.on))
      case .meter:
        .meter(
          input: try line.name(.input),
          levels: try line.numbers(.levels, in: EventLimits.fraction, atMost: Self.maximumChannels))
      case .set:
        .set(
          control: try line.name(.control),
          value: try line.number(.value, in: EventLimits.fraction))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .slider(let slider):
      object.add("control", slider.control)
      object.add("phase", slider.phase.rawValue)
      object.add("value", slider.value)
    case .tap(let control, let on):
      object.add("control", control)
      object.add("on", on)
    case .meter(let input, let levels):
      object.add("input", input)
      object.addArray("levels") { array in for level in levels { array.append(level) } }
    case .set(let control, let value):
      object.add("control", control)
      object.add("value", value)
    }
  }
}
