package import Composable

/// The panel of sliders, switches and level meters.
///
/// A slider's value is local while it is dragged; its release commits it, once.
@Reducer
package struct ControlFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    /// Committed values of sliders, from 0 to 1.
    package var values = ControlTable<Double>()
    /// Positions of switches.
    package var switches = ControlTable<Bool>()
    /// Sliders that are being dragged, with their local values.
    package var dragging = ControlTable<Double>()
    /// Newest levels of audio inputs, from 0 to 1, one per channel.
    package var meters = ControlTable<[Float]>()
    /// How many values were committed.
    package var committed = 0

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case sliderBegan(control: String, value: Double)
    case sliderMoved(control: String, value: Double)
    case sliderReleased(control: String, value: Double)
    /// `on` is the new position of a switch; without it the switch toggles.
    case tapped(control: String, on: Bool?)
    case meterRead(input: String, levels: [Float])
    /// A slider was set from elsewhere, in one step.
    case set(control: String, value: Double)
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// A slider has a new value that is meant to last.
    case committed(control: String, value: Double)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .sliderBegan(let control, let value), .sliderMoved(let control, let value):
      // A change whose beginning was not seen is a drag, too.
      if state.dragging[control] != value { state.dragging[control] = value }
      return .none
    case .sliderReleased(let control, let value):
      if state.dragging[control] != nil { state.dragging[control] = nil }
      return commit(value, of: control, in: &state)
    case .tapped(let control, let on):
      let position = on ?? !(state.switches[control] ?? false)
      if state.switches[control] != position { state.switches[control] = position }
      return .none
    case .meterRead(let input, let levels):
      if state.meters[input] != levels { state.meters[input] = levels }
      return .none
    case .set(let control, let value):
      // The finger wins: a drag goes on with its local value, and its release has the last word.
      return commit(value, of: control, in: &state)
    case .delegate:
      return .none
    }
  }

  /// What a release and a value set from elsewhere share.
  private func commit(
    _ value: Double, of control: String, in state: inout State
  ) -> Effect<Action> {
    let value = min(max(value, 0), 1)
    if state.values[control] != value { state.values[control] = value }
    state.committed += 1
    return .send(.delegate(.committed(control: control, value: value)))
  }
}
