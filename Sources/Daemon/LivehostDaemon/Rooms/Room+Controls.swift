import Composable
import ControlFeature
import ControlInterface
import HostFeature
import HostScreen

extension Room {
  /// As many sliders and switches a room can have; names are chosen by those who send them.
  static let maximumControls = 256

  /// Commits a value of a slider, or sets a switch.
  func set(_ control: String, _ setting: ControlSetting) -> Result<ControlSetting, ControlError> {
    let state = screen.store.state.control
    switch setting {
    case .value(let value):
      guard state.values[control] != nil || state.values.count < Self.maximumControls else {
        return .failure(.limitReached("controls"))
      }
      send(.control(.set(control: control, value: value)))
      return .success(.value(screen.store.state.control.values[control] ?? value))
    case .position(let on):
      guard state.switches[control] != nil || state.switches.count < Self.maximumControls else {
        return .failure(.limitReached("controls"))
      }
      send(.control(.tapped(control: control, on: on)))
      return .success(.position(screen.store.state.control.switches[control]))
    }
  }
}
