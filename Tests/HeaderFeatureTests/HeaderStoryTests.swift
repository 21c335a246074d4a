import ComposableTesting
import HeaderFeature
import LiveEvents
import RateLimiting
import Testing

@Suite struct HeaderStoryTests {
  @Test func `the header follows a stream from the waiting room to its end`() async {
    let store = TestStore(initialState: HeaderFeature.State()) { HeaderFeature() }
    await store.send(.titleChanged("Sunday cooking")) { $0.title = "Sunday cooking" }
    await store.send(.streamChanged(.waiting, at: 1_000)) { $0.phase = .waiting }
    await store.send(.ticked(at: 2_000))
    await store.send(.streamChanged(.live, at: 3_000)) {
      $0.phase = .live
      $0.liveSince = 3_000
    }
    await store.send(.viewersChanged(count: 40, peak: 45)) {
      $0.viewers = 40
      $0.peakViewers = 45
    }
    await store.send(.reacted(1_000)) { $0.likes = 1_000 }
    await store.send(.connectionChanged(.poor)) { $0.connection = .poor }
    await store.send(.connectionChanged(.poor))
    var sampler = HistorySampler()
    var history = sampler.add(40, at: 63_000, to: nil)
    await store.send(.ticked(at: 63_000)) {
      $0.durationMilliseconds = 60_000
      $0.viewersSampler = sampler
    }
    await store.send(.viewersChanged(count: 30, peak: 30)) { $0.viewers = 30 }
    history = sampler.add(30, at: 68_000, to: history)
    #expect(history?.samples == [40])
    await store.send(.ticked(at: 68_000)) {
      $0.durationMilliseconds = 65_000
      $0.viewersHistory = history
      $0.viewersSampler = sampler
    }
    await store.send(.streamChanged(.ended, at: 69_000)) {
      $0.phase = .ended
      $0.durationMilliseconds = 66_000
    }
    #expect(store.state.newestTime == 69_000)
    await store.finish()
  }
}
