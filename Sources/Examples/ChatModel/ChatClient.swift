import Composable

/// The requests of the model to the chat server.
package struct ChatClient: DependencyValue {
  /// Connects, and returns the messages that other users write from then onwards. The sequence
  /// throws when the connection is lost.
  package var connect: @Sendable () async throws -> AsyncThrowingStream<IncomingMessage, any Error>
  /// Delivers a text to a room. Returns when the server has received it.
  package var send: @Sendable (_ text: String, _ room: String) async throws -> Void
  /// Informs the other users of a room that this user is typing.
  package var notifyTyping: @Sendable (_ room: String) async throws -> Void

  package init(
    connect:
      @escaping @Sendable () async throws -> AsyncThrowingStream<
        IncomingMessage, any Error
      >,
    send: @escaping @Sendable (_ text: String, _ room: String) async throws -> Void,
    notifyTyping: @escaping @Sendable (_ room: String) async throws -> Void
  ) {
    self.connect = connect
    self.send = send
    self.notifyTyping = notifyTyping
  }

  /// A client without a server, which echoes each sent text.
  package static var live: ChatClient {
    let (echoes, continuation) = AsyncThrowingStream.makeStream(of: IncomingMessage.self)
    return ChatClient(
      connect: { echoes },
      send: { text, room in
        continuation.yield(IncomingMessage(room: room, author: "echo", text: text))
      },
      notifyTyping: { _ in })
  }
}

/// A message written by another user.
package struct IncomingMessage: Equatable, Sendable {
  package var room: String
  package var author: String
  package var text: String

  package init(room: String, author: String, text: String) {
    self.room = room
    self.author = author
    self.text = text
  }
}
