import Composable
import EncoderStatsFeature
import RateLimiting
import Testing

@Suite struct EncoderStatsFeatureTests {
  @Test func `the newest window of statistics is shown, and all samples are counted`() {
    var state = EncoderStatsFeature.State()
    let window = StatisticsWindow(bitrate: Summary(4_000), samples: 3)
    #expect(reduce(&state, .windowClosed(StatisticsWindow(samples: 2))).isNone)
    #expect(reduce(&state, .windowClosed(window)).isNone)
    var expected = EncoderStatsFeature.State()
    expected.window = window
    expected.samples = 5
    #expect(state == expected)
  }

  @Test func `the connection's quality drops immediately and recovers only below the lower limit`()
  {
    var state = EncoderStatsFeature.State()
    let story: [(congestion: Double, quality: StreamQuality)] = [
      (0.19, .good), (0.20, .fair), (0.19, .fair), (0.10, .fair), (0.09, .good), (0.50, .poor),
      (0.41, .poor), (0.39, .fair), (0.49, .fair), (0.95, .poor), (0.05, .good),
    ]
    for (congestion, quality) in story {
      _ = reduce(&state, .windowClosed(window(congestion: congestion)))
      #expect(state.quality == quality, "at \(congestion)")
    }
  }

  @Test func `each change of the connection's quality is reported to the parent once`() {
    var state = EncoderStatsFeature.State()
    var told = 0
    for congestion in [0.1, 0.6, 0.7, 0.6, 0.45, 0.41, 0.0, 0.0] {
      if !reduce(&state, .windowClosed(window(congestion: congestion))).isNone { told += 1 }
    }
    #expect(told == 2)
  }

  @Test func `the worst measurement determines the quality of the connection`() {
    var state = EncoderStatsFeature.State()
    _ = reduce(
      &state,
      .windowClosed(
        StatisticsWindow(roundTrip: Summary(200), congestion: Summary(0), samples: 1)))
    #expect(state.quality == .fair)
    // A window without measured round trips does not change the level of the round trip.
    _ = reduce(&state, .windowClosed(window(congestion: 0)))
    #expect(state.quality == .fair)
    _ = reduce(&state, .windowClosed(StatisticsWindow(roundTrip: Summary(20), samples: 1)))
    #expect(state.quality == .good)
  }

  @Test func `dropped frames are counted per window of statistics`() {
    var state = EncoderStatsFeature.State()
    func drop(_ count: Double) -> EncoderStatsFeature.Action {
      .windowClosed(StatisticsWindow(droppedFrames: Summary(count), samples: 1))
    }
    // Frames dropped before the first sample do not belong to the window.
    _ = reduce(&state, drop(1_000))
    #expect(state.quality == .good)
    _ = reduce(&state, drop(1_003))
    #expect(state.quality == .fair)
    _ = reduce(&state, drop(1_020))
    #expect(state.quality == .poor)
    // The encoder was restarted.
    _ = reduce(&state, drop(0))
    #expect(state.quality == .good)
  }

  @Test func `the frame rate is compared with the best frame rate so far`() {
    var state = EncoderStatsFeature.State()
    func rate(_ value: Double) -> EncoderStatsFeature.Action {
      .windowClosed(StatisticsWindow(frameRate: Summary(value), samples: 1))
    }
    let story: [(Double, StreamQuality)] = [
      (0, .good), (60, .good), (50, .fair), (30, .poor), (60, .good),
    ]
    for (value, quality) in story {
      _ = reduce(&state, rate(value))
      #expect(state.quality == quality, "at \(value)")
    }
  }

  private func window(congestion: Double) -> StatisticsWindow {
    StatisticsWindow(congestion: Summary(congestion), samples: 1)
  }

  private func reduce(
    _ state: inout EncoderStatsFeature.State, _ action: EncoderStatsFeature.Action
  ) -> Effect<EncoderStatsFeature.Action> {
    EncoderStatsFeature().reduce(into: &state, action: action)
  }
}
