import Composable
import EncoderStatsFeature
import Foundation
import LiveEvents
import RateLimiting
import Testing
import Throttling

/// The statistics of a room with several encoders.
@Suite struct SeveralEncodersTests {
  private let obs = Origin(platform: "obs", source: "obs")
  private let server = Origin(platform: "mediamtx", source: "server")

  private func state(after actions: [EncoderStatsFeature.Action]) -> EncoderStatsFeature.State {
    var state = EncoderStatsFeature.State()
    for action in actions { _ = EncoderStatsFeature().reduce(into: &state, action: action) }
    return state
  }

  private func window(
    bitrate: Double? = nil, congestion: Double? = nil, roundTrip: Double? = nil
  ) -> StatisticsWindow {
    StatisticsWindow(
      bitrate: bitrate.map { Summary($0) }, roundTrip: roundTrip.map { Summary($0) },
      congestion: congestion.map { Summary($0) }, samples: 1)
  }

  @Test func `each measurement is that of the first source that sends it`() {
    let state = state(after: [
      .windowClosed(window(bitrate: 6_000), from: obs),
      .windowClosed(window(bitrate: 5_000, roundTrip: 20), from: server),
    ])
    #expect(state.window == window(bitrate: 6_000, roundTrip: 20))
    #expect(state.parts?.map(\.window?.bitrate?.last) == [6_000, 5_000])
    #expect(state.samples == 2)
  }

  @Test func `the quality is the worst of all sources, and each is judged by its own figures`() {
    var actions: [EncoderStatsFeature.Action] = [
      .windowClosed(window(congestion: 0), from: obs),
      .windowClosed(window(congestion: 0.9), from: server),
    ]
    #expect(state(after: actions).quality == .poor)
    #expect(state(after: actions).fault == .congestion)
    // The other source is good, which says nothing about this one.
    actions += [.windowClosed(window(congestion: 0), from: obs)]
    #expect(state(after: actions).quality == .poor)
    #expect(state(after: actions).parts?.map(\.quality) == [.good, .poor])
    actions += [.sourceEnded(server)]
    #expect(state(after: actions).quality == .good && state(after: actions).fault == nil)
    #expect(state(after: actions).parts == nil && state(after: actions).hasOnly(obs))
  }

  @Test func `the statistics of a single source have no parts, whether or not it has a name`() {
    for origin in [Origin.none, obs] {
      let state = state(
        after: [.windowClosed(window(bitrate: 1), from: origin)]
          + (1...99).map { .ticked(at: 1_000 * $0) })
      #expect(state.parts == nil && state.window == window(bitrate: 1))
    }
    // The first source with a name adopts the figures of events without a name.
    let adopted = state(after: [
      .windowClosed(window(congestion: 0.9)), .windowClosed(window(bitrate: 1), from: obs),
    ])
    #expect(adopted.parts == nil && adopted.quality == .poor)
  }

  @Test func `the figures of a silent source are stale after 15 seconds, and then removed`() {
    var state = state(after: [
      .ticked(at: 0), .windowClosed(window(bitrate: 6_000), from: obs),
      .windowClosed(window(bitrate: 5_000, congestion: 0.9), from: server),
    ])
    var reported: [StreamQuality] = []
    for second in 1...50 as ClosedRange<Int64> {
      let quality = state.quality
      for action: EncoderStatsFeature.Action in [
        .windowClosed(window(bitrate: 6_000), from: obs), .ticked(at: second * 1_000),
      ] {
        _ = EncoderStatsFeature().reduce(into: &state, action: action)
      }
      if state.quality != quality { reported.append(state.quality) }
      #expect(state.parts?.last?.isStale == (second < 45 ? second >= 15 : nil), "\(second) s")
    }
    #expect(reported == [.good])
    #expect(state.parts == nil && state.hasOnly(obs))
  }

  @Test func `of more than 16 sources, the others are counted only as samples`() {
    let state = state(
      after: (0..<20).map {
        .windowClosed(window(bitrate: 1), from: Origin(platform: "m", source: Text("s\($0)")))
      })
    #expect(state.parts?.count == 16 && state.samples == 20)
    #expect(throws: Never.self) { try state.checkBounds() }
  }

  @Test func `saved statistics of several sources restore equal`() throws {
    let state = state(after: [
      .ticked(at: 5), .windowClosed(window(bitrate: 6_000), from: obs),
      .windowClosed(window(congestion: 0.9), from: server),
    ])
    let copy = try JSONDecoder().decode(
      EncoderStatsFeature.State.self, from: JSONEncoder().encode(state))
    #expect(copy == state)
  }

  @Test func `samples of two sources are summarised in separate windows`() {
    var throttle = EncoderStatsThrottle()
    var output = ThrottleOutput<EncoderStatsFeature.Action>()
    for (rate, origin) in [(1.0, obs), (10, server), (3, obs)] {
      throttle.origin = origin
      throttle.receive(
        StreamStatistics(bitrateKbps: rate), timestamp: 0, at: .origin, into: &output)
    }
    #expect(throttle.pending == 3)
    throttle.wake(at: .origin + .seconds(1), into: &output)
    var rates: [Origin: Double?] = [:]
    for case .windowClosed(let window, let origin) in output.actions {
      rates[origin] = window.bitrate?.mean
    }
    #expect(rates == [obs: 2, server: 10])
    #expect(output.applied == 3 && throttle.pending == 0)
  }
}
