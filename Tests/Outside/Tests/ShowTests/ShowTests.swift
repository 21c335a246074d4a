import Composable
import ComposableTesting
import Testing

@testable import Show

struct ShowTests {
  private let clock = TestClock()

  private func makeStore(
    _ titles: @escaping @Sendable (String) async throws -> [String] = unset(
      "catalogue.titles", returning: [])
  ) -> TestStore<Show.State, Show.Action> {
    let dependencies = Dependencies.test(clock: clock, identifiers: .counting())
      .overriding(Catalogue(titles: titles))
    return TestStore(initialState: Show.State(), clock: clock) {
      Show(dependencies: dependencies)
    }
  }

  @Test func `a search starts after a pause in typing`() async {
    let store = makeStore { [$0.uppercased()] }
    await store.send(.search(.edited("s"))) { $0.search.text = "s" }
    clock.advance(by: .milliseconds(299))
    await store.send(.search(.edited("so"))) { $0.search.text = "so" }
    clock.advance(by: .milliseconds(300))
    await store.receive(\.search.response.success, ["SO"]) { $0.search.titles = ["SO"] }
    await store.finish()
  }

  @Test func `a failed search is shown as failed`() async {
    struct Offline: Error {}
    let store = makeStore { _ in throw Offline() }
    await store.send(.search(.edited("s"))) { $0.search.text = "s" }
    clock.advance(by: .milliseconds(300))
    await store.receive(\.search.response.failure) { $0.search.isFailed = true }
    await store.finish()
  }

  @Test func `the broadcast counts its seconds until it ends`() async {
    let store = makeStore()
    await store.send(.startTapped) { $0.phase = .live(Broadcast.State()) }
    await store.receive(\.phase.began)
    clock.advance(by: .seconds(1))
    await store.receive(\.phase.ticked) { $0.phase = .live(Broadcast.State(seconds: 1)) }
    await store.send(.endTapped) { $0.phase = .waiting }
    clock.advance(by: .seconds(10))
    await store.finish()
  }

  @Test func `a poll closes automatically`() async {
    let store = makeStore()
    await store.send(.pollTapped) { $0.poll = Poll.State() }
    await store.send(.poll(.opened))
    await store.send(.poll(.voted)) { $0.poll?.votes = 1 }
    clock.advance(by: .seconds(60))
    await store.receive(\.poll.closed) { $0.poll = nil }
    await store.finish()
  }

  @Test func `the settings screen changes its fields through bindings and dismisses itself`() async
  {
    let store = makeStore()
    await store.send(.settingsTapped) { $0.destination = .settings(Settings.State()) }
    await store.send(\.destination.presented.settings.binding, .set(\.title, "Evening")) {
      $0.destination = .settings(Settings.State(title: "Evening"))
    }
    await store.send(\.destination.presented.settings.doneTapped)
    await store.receive(\.destination.dismiss) { $0.destination = nil }
  }

  @Test func `answering the confirmation dismisses it`() async {
    let store = makeStore()
    await store.send(.leaveTapped) { $0.destination = .confirmation(AlertState("Leave?")) }
    await store.send(\.destination.presented.confirmation, .leaveConfirmed)
    await store.receive(\.destination.dismiss) { $0.destination = nil }
  }

  @Test func `guests join and leave the show`() async {
    let store = makeStore()
    await store.send(.guestJoined("Ada")) {
      $0.guests.append(Guest.State(id: 1, name: "Ada"))
    }
    await store.send(\.guests[id: 1].muteTapped) { $0.guests[id: 1]?.isMuted = true }
    await store.send(\.guests[id: 1].leftTapped) { $0.guests.remove(id: 1) }
  }

  @Test func `pages are pushed on the stack`() async {
    let store = makeStore()
    await store.send(.pageTapped("Rules")) { $0.path.push(Page.State(title: "Rules")) }
    await store.send(\.path[id: 0].backTapped) { $0.path.pop() }
  }

  @Test func `an exhaustive test detects omitted expectations`() async {
    let store = makeStore()
    await withKnownIssue { await store.send(.pollTapped) }
  }

  @Test func `a store on a lane notifies the observers of a single field`() async {
    let lane = SerialLane()
    let names = await lane.run {
      let store = Store(initialState: Show.State(), lane: lane) {
        Show(dependencies: .live())
      }
      var calls: [String] = []
      let observers = [
        store.observe(\.guests) { calls.append("guests") },
        store.observePresence(\.poll) { calls.append("poll \($0)") },
      ]
      store.send(.guestJoined("Ada"))
      store.send(.pollTapped)
      withExtendedLifetime(observers) {}
      return calls
    }
    #expect(names == ["guests", "poll true"])
  }
}
