import Composable
import ComposableTesting
import LiveEvents
import RateLimiting
import SourcesFeature
import Testing
import Throttling
import ViewGraph

@Suite struct SourcesFeatureTests {
  private let store = Store(
    initialState: SourcesFeature.State(), lane: DirectLane(), notification: .batched
  ) { SourcesFeature() }

  private func status(
    _ source: Text, _ state: SourceHealth.Connection = .live, lost: Int = 0
  ) -> SourceHealth {
    SourceHealth(source: source, state: state, lost: lost)
  }

  @Test func `a source's new state replaces the previous one, and its gaps are added up`() {
    store.send(.reported(status("irc", .live, lost: 3), at: 10))
    store.send(.missed(MissedTime(source: "irc", from: 5, to: 9, reason: "cut"), at: 20))
    store.send(.reported(status("irc", .behind), at: 15))
    store.send(.missed(MissedTime(source: "irc", from: 30, to: 60, reason: "again"), at: 70))
    let source = store.state.sources.first
    #expect(store.state.sources.count == 1)
    #expect(source?.status == status("irc", .behind))
    #expect(source?.gaps == 2)
    #expect(source?.gapMilliseconds == 34)
    #expect(source?.lastGap?.reason == "again")
    #expect(source?.timestamp == 70)
  }

  @Test func `above 32 sources, ended sources are removed first, then the one silent for longest`()
  {
    for number in 0..<SourcesFeature.limit {
      let state: SourceHealth.Connection = number == 20 ? .ended : .live
      store.send(.reported(status(Text("s\(number)"), state), at: Timestamp(100 - number)))
    }
    func names() -> [String] { store.state.sources.map { String($0.name) } }
    store.send(.reported(status("new"), at: 200))
    #expect(names().count == SourcesFeature.limit)
    #expect(!names().contains("s20"))
    store.send(.missed(MissedTime(source: "newer", from: 0, to: 1, reason: ""), at: 200))
    #expect(!names().contains("s31"))
    #expect(names().suffix(2) == ["new", "newer"])
  }

  @Test func `a gap passes the throttle immediately, after the newest held state`() {
    var throttle = SourcesThrottle()
    var output = ThrottleOutput<SourcesFeature.Action>()
    func receive(_ event: SourceEvent, at time: Interval) {
      throttle.receive(event, timestamp: 7, at: .origin + time, into: &output)
    }
    receive(.state(status("a", .connecting)), at: .zero)
    receive(.state(status("b", .connecting)), at: .zero)
    for lost in 1...5 { receive(.state(status("a", .live, lost: lost)), at: .milliseconds(10)) }
    #expect(output.actions.count == 2)
    #expect(throttle.pending == 1)
    #expect(output.coalesced == 4)
    let gap = MissedTime(source: "a", from: 1, to: 2, reason: "cut")
    receive(.gap(gap), at: .milliseconds(20))
    #expect(
      output.actions.suffix(2) == [
        .reported(status("a", .live, lost: 5), at: 7), .missed(gap, at: 7),
      ])
    #expect(output.applied == 4)
    #expect(throttle.pending == 0)
    receive(.state(status("a", .ended)), at: .milliseconds(30))
    throttle.wake(at: .origin + .milliseconds(220), into: &output)
    #expect(output.actions.last == .reported(status("a", .ended), at: 7))
  }

  @Test func `each source has a row with its state and its missing events`() {
    let store = store
    let graph = ViewGraph(SourcesView(), place: store.place, clock: { 0 }, read: { store.state })
    store.send(contentsOf: [
      .reported(
        SourceHealth(
          source: "irc", state: .behind, platform: "twitch", behindMilliseconds: 2_450, lost: 1_200,
          backfilled: 30, duplicate: 4), at: 1),
      .reported(SourceHealth(source: "obs", state: .refused, reason: "wrong password"), at: 1),
      .missed(MissedTime(source: "irc", from: 0, to: 12_001, reason: "connection lost"), at: 2),
      .missed(MissedTime(source: "irc", from: 20_000, to: 21_000, reason: "no answer"), at: 3),
    ])
    store.deliverChanges()
    graph.evaluateFrame()
    let irc: ViewNode = .row([
      .text("irc", .strong), .text("(twitch)", .faint), .badge("BEHIND 2.5 s", .warning),
      .text("gap of 1 s (no answer), 2 gaps, 14 s in all", .warning),
      .text("1,200 lost", .warning), .text("30 back-filled", .faint),
      .text("4 duplicate", .faint),
    ])
    let obs: ViewNode = .row([
      .text("obs", .strong), .badge("REFUSED", .bad), .text("wrong password", .bad),
    ])
    #expect(
      graph.output(of: graph.rootID)
        == .panel(
          .init("sources", title: "Sources", priority: 3, minimumRows: 1, usefulRows: 2),
          .list([.init(id: "irc", irc), .init(id: "obs", obs)])))
  }
}
