import ChatFeature
import Composable
import ComposableTesting
import ControlFeature
import HostFeature
import LiveEvents
import Testing

/// How acts on platforms reach the chat, which shows them.
@Suite struct ActsInChatTests {
  private let store = Store(initialState: HostFeature.State(), lane: DirectLane()) {
    HostFeature()
  }

  private let twitch = OfferedActs(platform: "twitch", source: "main", kinds: [.say, .delete])

  private func connect(_ number: Int, _ acts: OfferedActs?) {
    store.send(.control(.surface(.began(controller: number, controls: [], acts: acts))))
  }

  @Test func `the chat appears with the first controller that can act on a platform`() {
    connect(1, nil)
    store.send(.control(.set(control: "zoom", value: 0.5)))
    #expect(store.state.chat == nil)
    connect(2, twitch)
    #expect(store.state.chat?.acts == ChatActs(offers: [twitch]))
    #expect(store.state.chat?.total == 0)
    store.send(.control(.surface(.ended(controller: 2))))
    #expect(store.state.chat != nil && store.state.chat?.acts == nil)
  }

  @Test func `a chat that appears with a message offers the acts of connected controllers`() {
    connect(1, twitch)
    store.send(.roomClosed)
    #expect(store.state.chat == nil)
    let message = ChatMessage(id: "m1", userID: "u", userName: "Ann", text: "hi")
    store.send(.chat(.messages([TimedMessage(timestamp: 0, message: message)])))
    #expect(store.state.chat?.acts?.offers == [twitch])
  }

  @Test func `an act is shown in the chat until it ends, and then with its outcome`() throws {
    connect(1, twitch)
    let act = RequestedAct(try PlatformAct(.delete, message: "m1"), by: "bob")
    store.send(.control(.actRequested(act)))
    var sent = act
    (sent.platform, sent.source) = ("twitch", "main")
    #expect(store.state.chat?.acts?.performed == [PerformedAct(number: 1, act: sent)])
    store.send(.control(.answered(request: 1, .refused(reason: "too old"))))
    #expect(
      store.state.chat?.acts?.performed == [
        PerformedAct(number: 1, act: sent, outcome: .refused(reason: "too old"))
      ])
    store.send(.control(.actRequested(act)))
    store.send(.control(.surface(.restarted)))
    #expect(
      store.state.chat?.acts?.performed.map(\.outcome) == [
        .refused(reason: "too old"),
        .refused(reason: "the outcome is unknown: livehostd restarted"),
      ])
    #expect(store.state.chat?.acts?.offers == [])
    store.cancelEffects()
  }
}
