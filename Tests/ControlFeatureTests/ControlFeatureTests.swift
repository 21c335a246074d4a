import Composable
import ComposableTesting
import ControlFeature
import Testing

/// Reduces actions and the actions that follow from them in order, like a store.
struct ControlRun {
  var state = ControlFeature.State()

  mutating func send(_ action: ControlFeature.Action) -> Effect<ControlFeature.Action> {
    ControlFeature().reduce(into: &state, action: action)
  }
}

@Suite struct ControlFeatureTests {
  @Test func `the value of a slider stays local while the slider is dragged`() {
    var run = ControlRun()
    #expect(run.send(.sliderBegan(control: "mic", value: 0.2)).isNone)
    #expect(run.send(.sliderMoved(control: "mic", value: 0.3)).isNone)
    #expect(run.state.dragging["mic"] == 0.3)
    #expect(run.state.values.isEmpty)
    #expect(run.state.committed == 0)
  }

  @Test func `releasing a slider commits its value once and reports it to the parent`() {
    let run = StoreRun()
    run.store.send(.sliderBegan(control: "mic", value: 0.2))
    run.store.send(.sliderMoved(control: "mic", value: 0.3))
    run.store.send(.sliderReleased(control: "mic", value: 0.5))
    var expected = ControlFeature.State()
    expected.values["mic"] = 0.5
    expected.committed = 1
    #expect(run.store.state == expected)
    #expect(run.committed == ["mic=0.5"])
  }

  @Test func `releasing a slider commits its value even if the start of the drag was lost`() {
    let run = StoreRun()
    run.store.send(.sliderReleased(control: "zoom", value: 1))
    #expect(run.store.state.values["zoom"] == 1)
    #expect(run.committed == ["zoom=1.0"])
  }

  @Test func `a slider value that is set remotely is committed and does not affect a drag`() {
    let run = StoreRun()
    run.store.send(.sliderBegan(control: "mic", value: 0.2))
    run.store.send(.set(control: "mic", value: 0.9))
    #expect(run.store.state.values["mic"] == 0.9)
    #expect(run.store.state.dragging["mic"] == 0.2)
    run.store.send(.sliderReleased(control: "mic", value: 0.25))
    #expect(run.store.state.values["mic"] == 0.25)
    #expect(run.store.state.committed == 2)
    #expect(run.committed == ["mic=0.9", "mic=0.25"])
  }

  @Test func `a value beyond the range of a slider is clamped`() {
    let run = StoreRun()
    run.store.send(.set(control: "mic", value: 7))
    run.store.send(.set(control: "zoom", value: -7))
    #expect(run.store.state.values["mic"] == 1)
    #expect(run.store.state.values["zoom"] == 0)
  }

  @Test func `a tap toggles a switch or sets its position`() {
    var run = ControlRun()
    _ = run.send(.tapped(control: "camera", on: nil))
    #expect(run.state.switches["camera"] == true)
    _ = run.send(.tapped(control: "camera", on: nil))
    #expect(run.state.switches["camera"] == false)
    _ = run.send(.tapped(control: "camera", on: true))
    _ = run.send(.tapped(control: "camera", on: true))
    #expect(run.state.switches["camera"] == true)
  }

  @Test func `the newest levels of each meter are kept`() {
    var run = ControlRun()
    _ = run.send(.meterRead(input: "mic", levels: [0.1, 0.2]))
    _ = run.send(.meterRead(input: "game", levels: [0.9]))
    _ = run.send(.meterRead(input: "mic", levels: [0.3, 0.4]))
    #expect(run.state.meters["mic"] == [0.3, 0.4])
    #expect(run.state.meters.names == ["mic", "game"])
  }

  @Test func `controls keep the order in which they first appeared`() {
    var table = ControlTable<Int>()
    for (index, name) in ["mic", "game", "zoom"].enumerated() { table[name] = index }
    table["mic"] = 9
    #expect(table.names == ["mic", "game", "zoom"])
    table["game"] = nil
    table["light"] = nil
    #expect(table.names == ["mic", "zoom"])
    table["game"] = 4
    #expect(table.names == ["mic", "zoom", "game"])
    #expect(table["mic"] == 9)
  }

  @Test func `an action that changes nothing notifies no observer`() {
    let run = StoreRun()
    run.store.send(.sliderMoved(control: "mic", value: 0.5))
    run.store.send(.tapped(control: "camera", on: true))
    run.store.send(.meterRead(input: "mic", levels: [1]))
    var changes = 0
    let observer = run.store.observeAll { _ in changes += 1 }
    run.store.send(.sliderMoved(control: "mic", value: 0.5))
    run.store.send(.tapped(control: "camera", on: true))
    run.store.send(.meterRead(input: "mic", levels: [1]))
    #expect(changes == 0)
    run.store.send(.sliderMoved(control: "mic", value: 0.6))
    #expect(changes == 1)
    observer.cancel()
  }
}

/// A store that records the delegate actions to the parent.
final class StoreRun {
  @Reducer
  struct Parent {
    let told: (ControlFeature.Delegate) -> Void
    func reduce(
      into state: inout ControlFeature.State, action: ControlFeature.Action
    ) -> Effect<ControlFeature.Action> {
      if case .delegate(let delegate) = action { told(delegate) }
      return ControlFeature().reduce(into: &state, action: action)
    }
  }

  final class Notes { var committed: [String] = [] }

  let store: Store<ControlFeature.State, ControlFeature.Action>
  private let notes = Notes()
  var committed: [String] { notes.committed }

  init() {
    let notes = notes
    store = Store(initialState: ControlFeature.State(), lane: DirectLane()) {
      Parent { delegate in
        switch delegate {
        case .committed(let control, let value): notes.committed.append("\(control)=\(value)")
        case .endStreamTapped(let on): notes.committed.append("end \(on ?? true)")
        case .requestEnded(let request, _): notes.committed.append("ended \(request.number)")
        }
      }
    }
  }
}
