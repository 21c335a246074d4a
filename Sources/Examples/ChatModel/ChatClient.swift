import Composable

/// The requests of the model to the chat server.
package struct ChatClient: DependencyValue {
  /// Connects, and returns the messages that others write afterwards. The sequence throws when the
  /// connection is lost.
  package var connect: @Sendable () async throws -> AsyncThrowingStream<IncomingMessage, any Error>
  /// Delivers a text to a room. Returns when the server has received it.
  package var send: @Sendable (_ text: String, _ room: String) async throws -> Void
  /// Notifies the others in a room that the user is typing.
  package var tellTyping: @Sendable (_ room: String) async throws -> Void

  package init(
    connect:
      @escaping @Sendable () async throws -> AsyncThrowingStream<
        IncomingMessage, any Error
      >,
    send: @escaping @Sendable (_ text: String, _ room: String) async throws -> Void,
    tellTyping: @escaping @Sendable (_ room: String) async throws -> Void
  ) {
    self.connect = connect
    self.send = send
    self.tellTyping = tellTyping
  }

  /// The example has no server: each sent text is returned as an echo.
  package static var live: ChatClient {
    let (echoes, continuation) = AsyncThrowingStream.makeStream(of: IncomingMessage.self)
    return ChatClient(
      connect: { echoes },
      send: { text, room in
        continuation.yield(IncomingMessage(room: room, author: "echo", text: text))
      },
      tellTyping: { _ in })
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
