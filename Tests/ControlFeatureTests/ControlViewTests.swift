import Composable
import ComposableTesting
import ControlFeature
import LiveEvents
import Testing
import ViewGraph

@Suite struct ControlViewTests {
  private typealias Row = ViewNode.ListRow

  private let store = Store(
    initialState: ControlFeature.State(), lane: ManualLane(), notification: .batched
  ) { ControlFeature() }

  private func show(_ actions: ControlFeature.Action...) -> ViewNode? {
    let graph = ViewGraph(
      ControlView(), place: store.place, clock: { 0 }, read: { [store] in store.state })
    store.send(contentsOf: actions)
    store.deliverChanges()
    graph.evaluateFrame()
    return graph.output(of: graph.rootID)
  }

  private func panel(_ lines: ViewNode...) -> ViewNode {
    .panel(.init("control", title: "Controls", priority: 4, usefulRows: 16), .column(lines))
  }

  private func slider(
    _ name: String, _ value: Double, _ text: String, _ emphasis: ViewNode.Emphasis = .normal
  ) -> Row {
    let gauge = ViewNode.gauge(label: name, value: value, text: text, emphasis)
    return Row(
      id: "slider:\(name)",
      gauge.acting(
        ViewAct("set", "SetControl", ["control": .text(name)], input: .level("value"))))
  }

  /// The switch is on, so the offered host action turns it off.
  private var camera: ViewNode {
    .text("camera on", .good).acting(
      ViewAct("turn off", "SetControl", ["control": .text("camera"), "on": .flag(false)]))
  }

  @Test
  func `a requested value of a control is shown as pending, and a refused one with the reason`() {
    let asked = show(
      .set(control: "zoom", value: 0.25), .surface(.began(controller: 1, controls: nil)),
      .set(control: "zoom", value: 0.5), .set(control: "mic", value: 1),
      .tapped(control: "camera", on: true), .endStreamRequested)
    #expect(
      asked
        == panel(
          .list([
            slider("zoom", 0.5, "50% pending", .warning),
            slider("mic", 1, "100% pending", .warning),
          ]),
          .row([
            .text("camera on pending", .warning), .text("ending the stream", .warning),
          ])))
    let answered = show(
      .answered(request: 1, .refused(reason: "locked")), .answered(request: 2, .confirmed),
      .answered(request: 3, .confirmed), .streamEnded)
    #expect(
      answered
        == panel(
          .list([slider("zoom", 0.25, "25%"), slider("mic", 1, "100%")]),
          .row([camera]),
          .row([.text("zoom not set: locked", .bad)])))
    // A drag hides the pending value.
    let dragged = show(
      .set(control: "mic", value: 0), .sliderBegan(control: "zoom", value: 0.75))
    #expect(
      dragged
        == panel(
          .list([
            slider("zoom", 0.75, "75% dragged", .warning),
            slider("mic", 0, "0% pending", .warning),
          ]),
          .row([camera]),
          .row([.text("zoom not set: locked", .bad)])))
  }
}
