package import Composable

/// The panel of sliders, switches and level meters.
///
/// A slider's value is local while it is dragged, and is committed once, by its release. If the
/// release never comes, it is committed after some time.
@Reducer
package struct ControlFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// Committed values of sliders, from 0 to 1.
    package var values = ControlTable<Double>()
    /// Positions of switches.
    package var switches = ControlTable<Bool>()
    /// Sliders that are being dragged, with their local values.
    package var dragging = ControlTable<Double>()
    /// The newest levels of audio inputs, from 0 to 1, one per channel.
    package var meters = ControlTable<[Float]>()
    /// How many values have been committed.
    package var committed = 0
    /// Not for views.
    @ObservationStateIgnored package var bookkeeping = DragBookkeeping()

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case sliderBegan(control: String, value: Double)
    case sliderMoved(control: String, value: Double)
    case sliderReleased(control: String, value: Double)
    /// `on` is the new position of the switch; without it, the switch toggles.
    case tapped(control: String, on: Bool?)
    case meterRead(input: String, levels: [Float])
    /// A slider was set from elsewhere, in one step.
    case set(control: String, value: Double)
    /// A second has passed.
    case ticked
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// A slider has a new, final value.
    case committed(control: String, value: Double)
    /// The switch ``ControlFeature/endStream`` was tapped. It has no position of its own: the
    /// parent asks whether the stream should end.
    case endStreamTapped(on: Bool?)
  }

  /// The name of the control that ends the stream.
  package static let endStream = "endStream"

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .sliderBegan(let control, let value), .sliderMoved(let control, let value):
      // A change without a beginning is a drag as well.
      if state.dragging[control] != value { state.dragging[control] = value }
      state.bookkeeping.noteMove(of: control)
      return .none
    case .sliderReleased(let control, let value):
      if state.dragging[control] != nil { state.dragging[control] = nil }
      let isOver = state.bookkeeping.noteRelease(of: control)
      // This drag was already committed by a time-out, with the same value.
      if isOver, state.values[control] == clamped(value) { return .none }
      return commit(value, of: control, in: &state)
    case .tapped(Self.endStream, let on):
      return .send(.delegate(.endStreamTapped(on: on)))
    case .tapped(let control, let on):
      let position = on ?? !(state.switches[control] ?? false)
      if state.switches[control] != position { state.switches[control] = position }
      return .none
    case .meterRead(let input, let levels):
      if state.meters[input] != levels { state.meters[input] = levels }
      return .none
    case .set(let control, let value):
      // The finger wins: a drag continues with its local value, and its release has the last word.
      return commit(value, of: control, in: &state)
    case .ticked:
      return commitForgottenDrags(&state)
    case .delegate:
      return .none
    }
  }

  /// Commits the drags whose end appears to be lost.
  private func commitForgottenDrags(_ state: inout State) -> Effect<Action> {
    guard !state.dragging.isEmpty else { return .none }
    var effects: [Effect<Action>] = []
    for drag in state.dragging.entries where state.bookkeeping.noteTick(of: drag.name) {
      state.dragging[drag.name] = nil
      effects.append(commit(drag.value, of: drag.name, in: &state))
    }
    return .merge(effects)
  }

  private func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }

  /// Commits a value, whether it comes from a release, a time-out or elsewhere.
  private func commit(
    _ value: Double, of control: String, in state: inout State
  ) -> Effect<Action> {
    let value = clamped(value)
    if state.values[control] != value { state.values[control] = value }
    state.committed += 1
    return .send(.delegate(.committed(control: control, value: value)))
  }
}
