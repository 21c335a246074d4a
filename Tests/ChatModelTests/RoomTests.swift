import ChatModel
import Composable
import ComposableTesting
import Testing

struct RoomTests {
  private let clock = TestClock()
  private let server = FakeServer()

  private func makeStore() -> TestStore<ChatRoom.State, ChatRoom.Action> {
    let dependencies = Dependencies.test(clock: clock, identifiers: .counting())
      .overriding(server.client)
    return TestStore(initialState: ChatRoom.State(id: "swift"), clock: clock) {
      ChatRoom(dependencies: dependencies)
    }
  }

  @Test func `a message is shown immediately and marked when the server has received it`() async {
    let store = makeStore()
    server.delay = (.seconds(1), clock)
    store.exhaustivity = .off
    await store.send(.draftEdited("Hello"))
    store.exhaustivity = .on
    await store.send(.sendTapped) {
      $0.draft = ""
      $0.add(Message(id: 1, author: "me", text: "Hello", delivery: .pending))
    }
    clock.advance(by: .seconds(1))
    await store.receive(.delivered(1)) { $0.messages[id: 1]?.delivery = .delivered }
    #expect(server.sent == ["swift: Hello"])
  }

  @Test func `a message that the server refused can be sent again`() async {
    let store = makeStore()
    server.isUp = false
    await store.send(.draftEdited("Hello")) { $0.draft = "Hello" }
    await store.send(.sendTapped) {
      $0.draft = ""
      $0.add(Message(id: 1, author: "me", text: "Hello", delivery: .pending))
    }
    await store.receive(.deliveryFailed(1)) { $0.messages[id: 1]?.delivery = .failed }
    server.isUp = true
    await store.send(.retryTapped(1)) { $0.messages[id: 1]?.delivery = .pending }
    await store.receive(.delivered(1)) { $0.messages[id: 1]?.delivery = .delivered }
    await store.send(.retryTapped(1))
    #expect(server.sent == ["swift: Hello"])
  }

  @Test func `typing notifications are sent at most once per three seconds`() async {
    let store = makeStore()
    for draft in ["H", "He", "Hel"] {
      await store.send(.draftEdited(draft)) { $0.draft = draft }
      clock.advance(by: .milliseconds(200))
    }
    #expect(server.typing == 1)
    clock.advance(by: .seconds(3))
    #expect(server.typing == 2)
    clock.advance(by: .seconds(3))
    #expect(server.typing == 2)
  }

  @Test func `an empty draft is not sent and sends no typing notification`() async {
    let store = makeStore()
    await store.send(.draftEdited(""))
    await store.send(.sendTapped)
    await store.finish()
    #expect(server.typing == 0)
  }

  @Test func `a room keeps only the newest messages`() {
    var room = ChatRoom.State(id: "swift")
    for id in 0..<UInt64(ChatRoom.State.capacity + 3) {
      room.add(Message(id: id, author: "Ada", text: "\(id)", delivery: .delivered))
    }
    #expect(room.messages.count == ChatRoom.State.capacity)
    #expect(room.messages.first?.id == 3)
  }
}
