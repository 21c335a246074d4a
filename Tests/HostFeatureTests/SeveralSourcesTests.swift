import Composable
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import RateLimiting
import TestSupport
import Testing

/// A room whose events come from several sources, from the throttle to the state.
@Suite struct SeveralSourcesTests {
  private let twitch = Origin(platform: "twitch", source: "tw")
  private let obs = Origin(platform: "obs", source: "studio")

  private func event(
    _ payload: LiveEvent.Payload, from origin: Origin, at time: Timestamp = 0
  ) -> LiveEvent {
    LiveEvent(timestamp: time, payload: payload, origin: origin)
  }

  private func poll(_ id: Text) -> LiveEvent.Payload {
    .poll(.begin(PollQuestion(id: id, title: "title", options: ["a", "b"])))
  }

  @Test func `the end of one platform ends neither the room nor its poll`() {
    var run = HostRun()
    run.receive(event(.stream(.live), from: obs, at: 1_000))
    run.receive(event(.stream(.live), from: twitch, at: 2_000))
    run.receive(poll("p"))
    run.receive(event(.stream(.ended), from: twitch, at: 3_000))
    #expect(run.state.phase == .live)
    run.receive(.poll(.votes(pollID: "p", totals: [3, 4])))
    run.flush()
    #expect(run.state.poll?.options.map(\.votes) == [3, 4])
    run.receive(event(.stream(.ended), from: obs, at: 4_000))
    #expect(run.state.phase == .ended && run.state.poll == nil)
    run.receive(poll("q"))
    run.receive(.poll(.votes(pollID: "q", totals: [3, 4])))
    #expect(run.counters.rejected == 1)
    #expect(run.counters.isConserved)
  }

  @Test func `statistics end with the stream of their source`() {
    var run = HostRun()
    for origin in [obs, twitch] { run.receive(event(.stream(.live), from: origin)) }
    run.receive(event(.liveRoomStats(StreamStatistics(congestion: 0.9)), from: obs))
    run.receive(event(.liveRoomStats(StreamStatistics(congestion: 0)), from: twitch))
    run.flush()
    #expect(run.state.quality == .poor && run.state.liveRoomStats?.parts?.count == 2)
    run.receive(event(.stream(.ended), from: obs))
    #expect(run.state.quality == .good && run.state.header.connection == .good)
    #expect(run.state.liveRoomStats?.hasOnly(twitch) == true)
    run.receive(event(.stream(.live), from: obs))
    run.receive(event(.stream(.ended), from: twitch))
    #expect(run.state.phase == .live)
    #expect(run.state.liveRoomStats == nil && run.state.quality == nil)
  }

  @Test func `a request to end the stream is confirmed when the first platform ends`() {
    var run = HostRun()
    // Nobody carries out the request.
    run.store.startsEffects = false
    for origin in [obs, twitch] { run.receive(event(.stream(.live), from: origin)) }
    run.store.send(
      .control(.surface(.began(controller: 1, controls: [Text(ControlFeature.endStream)]))))
    run.store.send(.control(.endStreamRequested))
    #expect(run.state.control.requests?.outstanding(for: ControlFeature.endStream) != nil)
    run.receive(event(.stream(.ended), from: obs))
    #expect(run.state.control.requests?.outstanding(for: ControlFeature.endStream) == nil)
    #expect(run.state.phase == .live, "the other platform has not ended yet")
  }

  @Test func `the host ends the streams of all platforms, if no controller can`() {
    var run = HostRun()
    for origin in [obs, twitch] { run.receive(event(.stream(.live), from: origin)) }
    for _ in 1...2 {
      run.receive(.control(.tap(control: Text(ControlFeature.endStream), on: true)))
    }
    #expect(run.state.phase == .ended)
    #expect(run.state.header.parts?.map(\.phase) == [.ended, .ended])
  }

  @Test func `a source that reports its end leaves the sum, and one that is connected does not`() {
    var run = HostRun()
    run.receive(event(.header(.viewers(count: 10)), from: twitch))
    run.receive(event(.header(.viewers(count: 3)), from: obs))
    for (name, state) in [("tw", SourceHealth.Connection.live), ("studio", .ended)] {
      run.receive(.source(.state(SourceHealth(source: Text(name), state: state))))
    }
    run.flush()
    #expect(run.state.header.viewers == 13 && run.state.wantsTicks)
    for second in 1...40 as ClosedRange<Int64> { run.store.send(.ticked(at: second * 1_000)) }
    #expect(run.state.header.viewers == 10)
    #expect(!run.state.wantsTicks, "the remaining source is connected")
  }

  @Test func `statistics show that their source is not silent`() {
    var run = HostRun()
    run.receive(event(.header(.viewers(count: 10)), from: twitch))
    run.receive(event(.header(.viewers(count: 3)), from: obs))
    for second in 1...400 as ClosedRange<Int64> {
      let window = StatisticsWindow(samples: 1)
      run.store.send(.liveRoomStats(.windowClosed(window, from: obs)))
      run.store.send(.ticked(at: second * 1_000))
    }
    #expect(run.state.header.parts?.map(\.standing) == [.gone, .current])
  }
}
