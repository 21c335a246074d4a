import Composable
import ComposableTesting
import Testing

// The code of the article "Testing". ``ArticleTests`` compares both.

struct TestingTests {
  private func played(_ title: String) -> Jukebox.State {
    var jukebox = Jukebox.State()
    jukebox.title = title
    return jukebox
  }

  @Test func `a test can receive an action by case, by value or by condition`() async {
    let store = TestStore(initialState: Bar.State()) { Bar(client: SongClient { "So What" }) }
    // Send an action like the user.
    await store.send(.jukebox(.skipTapped)) { $0.jukebox.isLoading = true }
    // Receive an equal action.
    await store.receive(.jukebox(.songLoaded("So What"))) { $0.jukebox = played("So What") }
    await store.send(.jukebox(.skipTapped)) { $0.jukebox.isLoading = true }
    // Receive an action by its case path and payload.
    await store.receive(\.jukebox.songLoaded, "So What") { $0.jukebox = played("So What") }
    await store.send(.jukebox(.skipTapped)) { $0.jukebox.isLoading = true }
    // Receive an action by its case path only.
    await store.receive(\.jukebox.songLoaded) { $0.jukebox = played("So What") }
    await store.send(.jukebox(.skipTapped)) { $0.jukebox.isLoading = true }
    // Receive an action that satisfies a condition.
    await store.receive(where: { $0 != .guestCame }) { $0.jukebox = played("So What") }
    // Check that nothing is left.
    await store.finish()
  }

  @Test func `a test can cancel or skip effects`() async {
    let clock = TestClock()
    let client = SongClient {
      try await clock.sleep(for: .seconds(2))
      return "So What"
    }
    let store = TestStore(initialState: Jukebox.State(), clock: clock) { Jukebox(client: client) }
    let effects = await store.send(.skipTapped) { $0.isLoading = true }
    await effects.cancel()
    #expect(!effects.isRunning)
    store.exhaustivity = .off
    await store.send(.skipTapped)
    clock.advance(by: .seconds(2))
    await store.skipReceivedActions()
    #expect(store.state.title == "So What")
    await store.send(.skipTapped)
    await store.skipInFlightEffects()
  }

  @Test func `using an unset dependency is a failure that names the dependency`() async throws {
    let clock = TestClock()
    let dependencies = Dependencies.test(clock: clock, identifiers: .counting())
    #expect(dependencies.identifiers.next() == 1)
    let client = SongClient(next: unset("songs.next", returning: ""))
    try await withKnownIssue {
      _ = try await client.next()
    } matching: { issue in
      issue.comments.contains { "\($0)".contains("songs.next") }
    }
  }
}
