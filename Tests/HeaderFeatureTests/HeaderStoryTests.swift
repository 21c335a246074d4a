import ComposableTesting
import HeaderFeature
import LiveEvents
import Testing

@Suite struct HeaderStoryTests {
  @Test func aStreamFromTheWaitingRoomToItsEnd() async {
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
    await store.send(.ticked(at: 63_000)) { $0.durationMilliseconds = 60_000 }
    await store.send(.viewersChanged(count: 30, peak: 30)) { $0.viewers = 30 }
    await store.send(.streamChanged(.ended, at: 64_000)) {
      $0.phase = .ended
      $0.durationMilliseconds = 61_000
    }
    #expect(store.state.newestTime == 64_000)
    await store.finish()
  }
}
