import Composable

/// What the model asks of the chat's server.
package struct ChatClient: DependencyValue {
  /// Connects, and returns what others write from then on. The sequence throws when the connection
  /// is lost.
  package var connect: @Sendable () async throws -> AsyncThrowingStream<IncomingMessage, any Error>
  /// Delivers a text to a room; returns when the server has it.
  package var send: @Sendable (_ text: String, _ room: String) async throws -> Void
  /// Tells the others in a room that one is writing to it.
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

  /// The example has no server: what is sent to a room comes back from its echo.
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

/// A message that somebody else wrote.
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
