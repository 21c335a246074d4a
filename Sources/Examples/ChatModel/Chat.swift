package import Composable

/// The model of a chat client: its connection, its rooms, the open room, and a question before
/// leaving a room. Any user interface can show the state and send the user's actions.
@Reducer
package struct Chat {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var connection: Connection = Connection.offline
    package var rooms = KeyedCollection<String, ChatRoom.State>()
    package var openRoom: String?
    package var question: AlertState<Answer>?

    package init(rooms: [String] = []) {
      for room in rooms { self.rooms.append(ChatRoom.State(id: room)) }
    }
  }

  package enum Connection: Equatable, Sendable {
    case offline
    /// The first attempt starts immediately. Later attempts follow after growing pauses.
    case connecting(attempt: Int)
    case online
  }

  package enum Action: Sendable {
    case connectTapped
    case disconnectTapped
    case connected
    case connectionLost
    case received(IncomingMessage)
    case roomTapped(String)
    case leaveTapped(String)
    case question(PresentationAction<Answer>)
    case rooms(ElementAction<String, ChatRoom.Action>)
  }

  package enum Answer: Equatable, Sendable {
    case leaveConfirmed(String)
  }

  private enum EffectName { case connection }

  private let client: ChatClient
  private let dependencies: Dependencies

  package init(dependencies: Dependencies) {
    client = dependencies[ChatClient.self]
    self.dependencies = dependencies
  }

  package var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .connectTapped: return connect(&state, attempt: 1)
      case .disconnectTapped:
        state.connection = .offline
        return .cancel(id: EffectName.connection)
      case .connected:
        state.connection = .online
        return .none
      case .connectionLost:
        let attempt = if case .connecting(let attempt) = state.connection { attempt } else { 1 }
        return connect(&state, attempt: attempt + 1)
      case .received(let message):
        receive(message, &state)
        return .none
      case .roomTapped(let room):
        state.openRoom = room
        state.rooms[id: room]?.unread = 0
        return .none
      case .leaveTapped(let room):
        state.question = .leave(room)
        return .none
      case .question(.presented(.leaveConfirmed(let room))):
        if state.openRoom == room { state.openRoom = nil }
        // Removing the room cancels its effects.
        state.rooms.remove(id: room)
        return .none
      case .question, .rooms: return .none
      }
    }
    .forEach(\.rooms, action: \.rooms) { ChatRoom(dependencies: dependencies) }
    .presents(\.question, action: \.question) { Alert() }
  }

  /// Connects and receives messages until the connection is lost. A new attempt cancels the
  /// previous attempt.
  private func connect(_ state: inout State, attempt: Int) -> Effect<Action> {
    state.connection = .connecting(attempt: attempt)
    let pause: Duration = attempt == 1 ? .zero : .seconds(1 << min(attempt - 2, 5))
    return .run(name: "Chat.connection") { [client, clock = dependencies.clock] send in
      try await clock.sleep(for: pause)
      let messages = try await client.connect()
      send(.connected)
      for try await message in messages { send(.received(message)) }
      send(.connectionLost)
    } catch: { _, send in
      send(.connectionLost)
    }
    .cancellable(id: EffectName.connection, cancelInFlight: true)
  }

  /// Adds a message to its room, unless the user has left the room.
  private func receive(_ message: IncomingMessage, _ state: inout State) {
    let isOpen = state.openRoom == message.room
    let entry = Message(
      id: dependencies.identifiers.next(), author: message.author, text: message.text,
      delivery: .delivered)
    state.rooms.modify(id: message.room) { room in
      room.add(entry)
      if !isOpen { room.unread += 1 }
    }
  }
}

extension AlertState<Chat.Answer> {
  /// Asks for confirmation before leaving a room.
  package static func leave(_ room: String) -> Self {
    AlertState(
      "Leave \(room)?", message: "Unsent text will be lost.",
      buttons: [
        ButtonState("Leave", role: .destructive, action: .leaveConfirmed(room)),
        ButtonState("Stay", role: .cancel),
      ])
  }
}
