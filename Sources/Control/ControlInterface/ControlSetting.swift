/// What a control is set to.
public enum ControlSetting: Equatable, Sendable {
  /// The value of a slider, from 0 to 1.
  case value(Double)
  /// The position of a switch; nil toggles it, or is that of a control that has none.
  case position(Bool?)
}

/// Parameters of `SetControl`.
struct SetControlParameters: Codable, Sendable {
  let room: String
  let control: String
  let value: Double?
  let on: Bool?
}

/// The reply of `SetControl`: what the control is set to by now.
struct SetControlReply: Codable, Sendable {
  let value: Double?
  let on: Bool?

  init(_ setting: ControlSetting) {
    switch setting {
    case .value(let value): (self.value, on) = (value, nil)
    case .position(let position): (value, on) = (nil, position)
    }
  }

  var setting: ControlSetting { value.map(ControlSetting.value) ?? .position(on) }
}
