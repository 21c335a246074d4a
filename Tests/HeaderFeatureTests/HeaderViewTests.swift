import Composable
import HeaderFeature
import LiveEvents
import Testing
import ViewGraph

@Suite struct HeaderViewTests {
  private struct DirectLane: Lane {
    func execute(_ job: @escaping @Sendable () -> Void) { job() }
    var taskExecutor: (any TaskExecutor)? { nil }
  }

  @Test func theHeaderShowsTitlePhaseDurationAndFigures() {
    let store = Store(
      initialState: HeaderFeature.State(), lane: DirectLane(), notification: .batched
    ) { HeaderFeature() }
    let graph = ViewGraph(HeaderView(), place: store.place, clock: { 0 }, read: { store.state })
    store.send(contentsOf: [
      .titleChanged("Sunday cooking"), .streamChanged(.live, at: 0), .ticked(at: 3_723_999),
      .viewersChanged(count: 12, peak: 34), .reacted(56),
    ])
    store.deliverChanges()
    graph.evaluateFrame()
    let expected = ViewNode.panel(
      title: "Stream",
      .column([
        .row([.text("Sunday cooking", .strong), .text("LIVE", .strong), .text("1:02:03")]),
        .row([.text("12 watching"), .text("peak 34", .faint), .text("56 likes")]),
      ]))
    #expect(graph.output(of: graph.rootID) == expected)
  }
}
