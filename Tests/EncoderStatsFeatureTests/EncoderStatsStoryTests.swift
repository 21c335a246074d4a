import ComposableTesting
import EncoderStatsFeature
import RateLimiting
import Testing

@Suite struct EncoderStatsStoryTests {
  private func window(congestion: Double, roundTrip: Double) -> StatisticsWindow {
    StatisticsWindow(
      roundTrip: Summary(roundTrip), congestion: Summary(congestion), samples: 1)
  }

  @Test func `a connection that degrades and recovers causes one alert for each level`() async {
    let store = TestStore(initialState: EncoderStatsFeature.State()) { EncoderStatsFeature() }
    store.exhaustivity = .off
    await store.send(.windowClosed(window(congestion: 0, roundTrip: 20))) { $0.samples = 1 }
    #expect(store.state.fault == nil)

    await store.send(.windowClosed(window(congestion: 0.6, roundTrip: 200))) {
      $0.quality = .poor
      $0.fault = .congestion
    }
    await store.receive(.delegate(.qualityChanged(.poor)))

    store.exhaustivity = .on
    let poor = window(congestion: 0.6, roundTrip: 200)
    for number in 3...9 {
      // The level is unchanged, so no alert is repeated.
      await store.send(.windowClosed(poor)) {
        $0.samples = number
        $0.window = poor
      }
    }

    store.exhaustivity = .off
    await store.send(.windowClosed(window(congestion: 0, roundTrip: 130))) {
      $0.quality = .fair
      $0.fault = .roundTrip
    }
    await store.receive(.delegate(.qualityChanged(.fair)))
    await store.send(.windowClosed(window(congestion: 0, roundTrip: 20))) {
      $0.quality = .good
      $0.fault = nil
    }
    await store.receive(.delegate(.qualityChanged(.good)))
    await store.finish()
  }
}
