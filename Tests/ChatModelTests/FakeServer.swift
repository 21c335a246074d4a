import ChatModel
import ComposableTesting
import Synchronization

/// The server of a test, which it runs by hand.
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

  /// Whether it can be reached. Connections end when it goes down.
  var isUp: Bool {
    get { contents.withLock { $0.isUp } }
    set {
      contents.withLock { contents in
        contents.isUp = newValue
        if !newValue { contents.connection?.finish(throwing: Down()) }
      }
    }
  }

  /// How long it takes to receive a message.
  var delay: (Duration, TestClock)? {
    get { contents.withLock { $0.delay } }
    set { contents.withLock { $0.delay = newValue } }
  }

  /// What it was sent, with the rooms.
  var sent: [String] { contents.withLock { $0.sent } }

  /// How often it was told that one is typing.
  var typing: Int { contents.withLock { $0.typing } }

  /// Writes a message of somebody else.
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
