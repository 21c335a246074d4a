import Composable
import ComposableTesting
import HeaderFeature
import LiveEvents
import RateLimiting
import Testing
import ViewGraph

@Suite struct HeaderViewTests {
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

  @Test func `a header with several sources shows the viewers of each`() {
    let store = Store(
      initialState: HeaderFeature.State(), lane: DirectLane(), notification: .batched
    ) { HeaderFeature() }
    let graph = ViewGraph(HeaderView(), place: store.place, clock: { 0 }, read: { store.state })
    let (youtube, owncast) = (Origin(platform: "youtube"), Origin(platform: "owncast"))
    store.send(contentsOf: [
      .viewersChanged(count: 1_204, peak: 1_204, from: Origin(platform: "twitch", source: "a")),
      .viewersChanged(count: 310, peak: 310, from: youtube),
      .viewersChanged(count: 12, peak: 12, from: owncast),
      .streamChanged(.ended, at: 0, from: owncast), .categoryChanged("Art", from: youtube),
    ])
    store.deliverChanges()
    graph.evaluateFrame()
    let expected = ViewNode.panel(
      .init("header", title: "Stream", priority: 0, minimumRows: 2, usefulRows: 4),
      .column([
        .row([.text("(no title)", .faint), .text("Art", .faint)]),
        .row([
          .text("0 s on the air, ended"), .text("1,526 viewers", .strong),
          .text("peak 1,526", .faint), .text("0 likes"),
        ]),
        .row([
          .text("twitch 1,204"), .text("·", .faint), .text("youtube 310"), .text("·", .faint),
          .text("owncast 12 stale", .warning),
        ]),
      ]))
    #expect(graph.output(of: graph.rootID) == expected)
  }

  @Test func `sources of one platform are named by their source`() {
    let origins = [
      Origin(platform: "twitch", source: "a"), Origin(platform: "twitch", source: "b"),
      Origin(platform: "kick", source: "c"), Origin(platform: "", source: "d"), Origin.none,
    ]
    #expect(
      Origin.distinctNames(of: origins) == ["twitch/a", "twitch/b", "kick", "d", "unnamed"])
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
