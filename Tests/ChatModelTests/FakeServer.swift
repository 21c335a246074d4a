import ChatModel
import ComposableTesting
import Synchronization

/// A server that the test controls.
final class FakeServer: Sendable {
  private struct Down: Error {}

  private struct Contents {
    var isUp = true
    var delay: (Duration, TestClock)?
    var sent: [String] = []
    var typing = 0
    var connection: AsyncThrowingStream<IncomingMessage, any Error>.Continuation?
  }

  private let contents = Mutex(Contents())

  /// Whether the server is reachable. Connections end when it becomes unreachable.
  var isUp: Bool {
    get { contents.withLock { $0.isUp } }
    set {
      contents.withLock { contents in
        contents.isUp = newValue
        if !newValue { contents.connection?.finish(throwing: Down()) }
      }
    }
  }

  /// The delay until a message is received.
  var delay: (Duration, TestClock)? {
    get { contents.withLock { $0.delay } }
    set { contents.withLock { $0.delay = newValue } }
  }

  /// The received messages, with their rooms.
  var sent: [String] { contents.withLock { $0.sent } }

  /// The number of typing notifications.
  var typing: Int { contents.withLock { $0.typing } }

  /// Writes a message of another user.
  func write(_ text: String, by author: String, in room: String) {
    let connection = contents.withLock { $0.connection }
    connection?.yield(IncomingMessage(room: room, author: author, text: text))
  }

  var client: ChatClient {
    ChatClient(
      connect: { [self] in
        try checkIsUp()
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: IncomingMessage.self)
        contents.withLock { $0.connection = continuation }
        return stream
      },
      send: { [self] text, room in
        if let (delay, clock) = delay { try await clock.sleep(for: delay) }
        try checkIsUp()
        contents.withLock { $0.sent.append("\(room): \(text)") }
      },
      tellTyping: { [self] _ in
        try checkIsUp()
        contents.withLock { $0.typing += 1 }
      })
  }

  private func checkIsUp() throws { if !isUp { throw Down() } }
}
