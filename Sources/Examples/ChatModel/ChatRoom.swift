package import Composable

/// A chat room: its messages, and the user's draft.
@Reducer
package struct ChatRoom {
  @ObservableState
  package struct State: Equatable, Identifiable, Sendable {
    package let id: String
    package var draft = ""
    package var unread = 0
    /// The newest messages, at most ``capacity``.
    package var messages = KeyedCollection<UInt64, Message>()

    package static let capacity = 500

    package init(id: String) { self.id = id }

    /// Adds a message, and removes the oldest message if the capacity is exceeded.
    package mutating func add(_ message: Message) {
      messages.append(message)
      if messages.count > Self.capacity, let oldest = messages.first {
        messages.remove(id: oldest.id)
      }
    }
  }

  package enum Action: Equatable, Sendable {
    case draftEdited(String)
    case sendTapped
    case retryTapped(UInt64)
    case delivered(UInt64)
    case deliveryFailed(UInt64)
  }

  private let client: ChatClient
  private let dependencies: Dependencies

  package init(dependencies: Dependencies) {
    client = dependencies[ChatClient.self]
    self.dependencies = dependencies
  }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .draftEdited(let draft):
      state.draft = draft
      return draft.isEmpty ? .none : notifyTyping(state.id)

    case .sendTapped:
      guard !state.draft.isEmpty else { return .none }
      // The message is shown immediately. The effect reports whether the message was delivered.
      let message = Message(
        id: dependencies.identifiers.next(), author: "me", text: state.draft, delivery: .pending)
      state.add(message)
      state.draft = ""
      return send(message, to: state.id)

    case .retryTapped(let id):
      guard let message = state.messages[id: id], message.delivery == .failed else { return .none }
      state.messages[id: id]?.delivery = .pending
      return send(message, to: state.id)

    case .delivered(let id):
      state.messages[id: id]?.delivery = .delivered
      return .none

    case .deliveryFailed(let id):
      state.messages[id: id]?.delivery = .failed
      return .none
    }
  }

  private func send(_ message: Message, to room: String) -> Effect<Action> {
    .run(name: "Room.send") { [client] send in
      try await client.send(message.text, room)
      send(.delivered(message.id))
    } catch: { _, send in
      send(.deliveryFailed(message.id))
    }
  }

  /// Sends a typing notification, at most one in three seconds. Failures are ignored.
  private func notifyTyping(_ room: String) -> Effect<Action> {
    .run(name: "Room.typing") { [client] _ in
      try await client.notifyTyping(room)
    } catch: { _, _ in
    }
    .throttle(id: "typing", for: .seconds(3), clock: dependencies.clock, latest: false)
  }
}
