import JSON

/// The replies to a call with `more`, decoded when they are consumed. For one consumer.
package struct ReplySequence<Reply: Decodable>: AsyncSequence, Sendable {
  package typealias Element = Reply
  package typealias Failure = VarlinkClientError

  let series: ReplySeries

  package func makeAsyncIterator() -> Iterator { Iterator(series: series) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let series: ReplySeries

    /// Whether the last reply to the call was consumed.
    package var isFinished: Bool { series.isFinished }

    /// Returns the next reply, or nil after the last one.
    package mutating func next() async throws(VarlinkClientError) -> Reply? {
      guard let parameters = try await series.next() else { return nil }
      return try VarlinkClient.decode(Reply.self, parameters)
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(VarlinkClientError) -> Reply? {
      guard let parameters = try await series.next() else { return nil }
      return try VarlinkClient.decode(Reply.self, parameters)
    }
  }
}

/// The owner of a series of replies, which closes the connection if released before the end.
final class ReplySeries: Sendable {
  private let client: VarlinkClient
  private let queue: ReplyQueue

  init(client: VarlinkClient, queue: ReplyQueue) {
    self.client = client
    self.queue = queue
  }

  func next() async throws(VarlinkClientError) -> [JSONName: JSONValue]? {
    try await client.next(of: queue)
  }

  var isFinished: Bool { queue.isFinished }

  deinit { if !queue.hasEnded { client.abandon() } }
}
