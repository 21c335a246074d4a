import ChatModel
import Composable
import ComposableTesting
import Testing

struct ChatTests {
  private let clock = TestClock()
  private let server = FakeServer()

  private func makeStore(rooms: [String] = ["swift"]) -> TestStore<Chat.State, Chat.Action> {
    let dependencies = Dependencies.test(clock: clock, identifiers: .counting())
      .overriding(server.client)
    return TestStore(initialState: Chat.State(rooms: rooms), clock: clock) {
      Chat(dependencies: dependencies)
    }
  }

  @Test func `the chat receives messages while it is connected`() async {
    let store = makeStore()
    await store.send(.connectTapped) { $0.connection = .connecting(attempt: 1) }
    await store.receive(\.connected) { $0.connection = .online }
    server.write("Hello", by: "Ada", in: "swift")
    await store.receive(\.received) {
      $0.rooms[id: "swift"]?.add(
        Message(id: 1, author: "Ada", text: "Hello", delivery: .delivered))
      $0.rooms[id: "swift"]?.unread = 1
    }
    await store.send(.disconnectTapped) { $0.connection = .offline }
    await store.finish()
  }

  @Test func `a lost connection is retried after increasing pauses`() async {
    let store = makeStore()
    await store.send(.connectTapped) { $0.connection = .connecting(attempt: 1) }
    await store.receive(\.connected) { $0.connection = .online }
    server.isUp = false
    await store.receive(\.connectionLost) { $0.connection = .connecting(attempt: 2) }
    clock.advance(by: .seconds(1))
    await store.receive(\.connectionLost) { $0.connection = .connecting(attempt: 3) }
    clock.advance(by: .seconds(1))
    server.isUp = true
    clock.advance(by: .seconds(1))
    await store.receive(\.connected) { $0.connection = .online }
    await store.send(.disconnectTapped) { $0.connection = .offline }
  }

  @Test func `pauses between connection attempts stop increasing at 32 seconds`() async {
    server.isUp = false
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.connectTapped)
    for _ in 0..<10 {
      await store.receive(\.connectionLost)
      clock.advance(by: .seconds(32))
    }
    await store.receive(\.connectionLost) { $0.connection = .connecting(attempt: 12) }
  }

  @Test func `a message in the open room is not unread`() async {
    let store = makeStore(rooms: ["swift", "linux"])
    store.exhaustivity = .off
    await store.send(.connectTapped)
    await store.receive(\.connected)
    server.write("one", by: "Ada", in: "swift")
    await store.receive(\.received) { $0.rooms[id: "swift"]?.unread = 1 }
    await store.send(.roomTapped("swift")) {
      $0.openRoom = "swift"
      $0.rooms[id: "swift"]?.unread = 0
    }
    server.write("two", by: "Ada", in: "swift")
    await store.receive(\.received) { $0.rooms[id: "swift"]?.unread = 0 }
    #expect(store.state.rooms[id: "swift"]?.messages.count == 2)
    #expect(store.state.rooms[id: "linux"]?.messages.count == 0)
  }

  @Test func `leaving a room asks for confirmation first, and ends the room's effects`() async {
    let store = makeStore()
    await store.send(.roomTapped("swift")) { $0.openRoom = "swift" }
    server.delay = (.seconds(5), clock)
    await store.send(\.rooms[id: "swift"].draftEdited, "Bye") {
      $0.rooms[id: "swift"]?.draft = "Bye"
    }
    await store.send(\.rooms[id: "swift"].sendTapped) {
      $0.rooms[id: "swift"]?.draft = ""
      $0.rooms[id: "swift"]?.add(Message(id: 1, author: "me", text: "Bye", delivery: .pending))
    }
    await store.send(.leaveTapped("swift")) { $0.question = .leave("swift") }
    await store.send(\.question.presented, .leaveConfirmed("swift")) {
      $0.openRoom = nil
      $0.rooms.remove(id: "swift")
    }
    await store.receive(\.question.dismiss) { $0.question = nil }
    clock.advance(by: .seconds(5))
    await store.finish()
  }
}
