import Composable
import HeaderFeature
import LiveEvents
import RateLimiting
import Testing
import ViewGraph

@Suite struct HeaderViewTests {
  private struct DirectLane: Lane {
    func execute(_ job: @escaping @Sendable () -> Void) { job() }
    var taskExecutor: (any TaskExecutor)? { nil }
  }

  @Test func `the header shows the title, the duration, and the figures`() {
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
      .init("header", title: "Stream", priority: 0, minimumRows: 2, usefulRows: 3),
      .column([
        .row([.text("Sunday cooking", .strong)]),
        .row([
          .text("1:02:03 on the air"), .text("12 viewers", .strong), .text("peak 34", .faint),
          .text("56 likes"),
        ]),
      ]))
    #expect(graph.output(of: graph.rootID) == expected)
  }

  @Test func `the history of viewers has one sample per five seconds`() {
    let store = Store(
      initialState: HeaderFeature.State(), lane: DirectLane(), notification: .batched
    ) { HeaderFeature() }
    store.send(contentsOf: [.streamChanged(.live, at: 0), .ticked(at: 1_000)])
    #expect(store.state.viewersSampler == nil, "Nothing must be allocated without viewers.")
    for second in 2...21 {
      store.send(.viewersChanged(count: second, peak: second))
      store.send(.ticked(at: Timestamp(second * 1_000)))
    }
    #expect(store.state.viewersHistory?.samples == [3, 7, 12, 17])
  }
}
