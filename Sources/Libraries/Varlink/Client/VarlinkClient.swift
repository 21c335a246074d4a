import Glibc
package import JSON
package import NIOCore
import NIOPosix

/// One connection to a Varlink service. Any number of tasks may make calls concurrently. Calls are
/// sent in the order in which they are made, and the service answers them in that order. A call
/// with `more` therefore delays later calls: use a separate client for each monitor.
package final class VarlinkClient: Sendable {
  private let channel: any Channel
  private let connection: NIOLoopBound<ClientConnection>

  /// The number of connection attempts, and the time between them, while the server's queue is
  /// full. The queue is full if more connections wait than the kernel allows.
  private static let attempts = (count: 5000, apart: Duration.milliseconds(2))

  /// Connects to a Unix socket. Waits up to ten seconds for a place in the server's queue.
  /// - Parameters:
  ///   - maximumMessageBytes: The maximum length of a reply. A longer reply is a protocol
  ///     violation. 16 MiB is the limit of systemd's own client.
  /// - Throws: ``VarlinkClientError/notReachable(path:code:)``.
  package static func connect(
    path: String, maximumMessageBytes: Int = 16 << 20,
    group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws(VarlinkClientError) -> VarlinkClient {
    var attempt = 1
    while true {
      do {
        return try await connectOnce(to: path, maximumMessageBytes, group)
      } catch .notReachable(_, EAGAIN) where attempt < attempts.count {
        do { try await Task.sleep(for: attempts.apart) } catch { throw .cancelled }
        attempt += 1
      }
    }
  }

  private static func connectOnce(
    to path: String, _ maximumMessageBytes: Int, _ group: any EventLoopGroup
  ) async throws(VarlinkClientError) -> VarlinkClient {
    do {
      let (channel, connection) = try await ClientBootstrap(group: group)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let connection = ClientConnection(maximumMessageBytes: maximumMessageBytes)
            try channel.pipeline.syncOperations.addHandler(connection)
          }
        }
        .connect(unixDomainSocketPath: path)
        .flatMapThrowing { channel in
          let connection = try channel.pipeline.syncOperations.handler(type: ClientConnection.self)
          return (channel, NIOLoopBound(connection, eventLoop: channel.eventLoop))
        }.get()
      return VarlinkClient(channel: channel, connection: connection)
    } catch let error as IOError {
      throw .notReachable(path: path, code: error.errnoCode)
    } catch SocketAddressError.unixDomainSocketPathTooLong {
      throw .notReachable(path: path, code: ENAMETOOLONG)
    } catch {
      throw .connectionClosed
    }
  }

  private init(channel: any Channel, connection: NIOLoopBound<ClientConnection>) {
    self.channel = channel
    self.connection = connection
  }

  deinit { channel.close(promise: nil) }

  /// Closes the connection. Unfinished calls fail with ``VarlinkClientError/connectionClosed``.
  package func close() async { try? await channel.close().get() }

  /// Calls a method and decodes its reply.
  package func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable = NoParameters(),
    returning type: Reply.Type = Reply.self
  ) async throws(VarlinkClientError) -> Reply {
    try Self.decode(type, await callRaw(method, try Self.encode(parameters)))
  }

  /// Calls a method with parameters and a reply in JSON.
  package func callRaw(
    _ method: String, _ parameters: [JSONName: JSONValue] = [:]
  ) async throws(VarlinkClientError) -> [JSONName: JSONValue] {
    let queue = send(CallMessage(method: method, parameters: parameters))
    guard let reply = try await next(of: queue) else { throw .connectionClosed }
    return reply
  }

  /// Calls a method without a reply. Returns when the call was written; the service may not have
  /// executed the call yet.
  package func callOneway(
    _ method: String, _ parameters: some Encodable = NoParameters()
  ) async throws(VarlinkClientError) {
    let call = CallMessage(method: method, parameters: try Self.encode(parameters), mode: .oneway)
    let written = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute { [connection] in
      connection.value.send(call, replies: nil, written: written)
    }
    do { try await written.futureResult.get() } catch { throw .connectionClosed }
  }

  /// Calls a method with the flag `more`. The call is sent immediately. A small number of unread
  /// replies is queued, then the connection stops reading. Releasing the sequence before its end
  /// closes the connection, which is how Varlink cancels a call.
  package func callMore<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable = NoParameters(),
    returning type: Reply.Type = Reply.self
  ) throws(VarlinkClientError) -> ReplySequence<Reply> {
    let call = CallMessage(method: method, parameters: try Self.encode(parameters), mode: .more)
    return ReplySequence(series: ReplySeries(client: self, queue: send(call)))
  }

  private func send(_ call: CallMessage) -> ReplyQueue {
    let queue = ReplyQueue { [connection, loop = channel.eventLoop] in
      loop.execute { connection.value.resume() }
    }
    channel.eventLoop.execute { [connection] in
      connection.value.send(call, replies: queue, written: nil)
    }
    return queue
  }

  func next(of queue: ReplyQueue) async throws(VarlinkClientError) -> [JSONName: JSONValue]? {
    let result = await withTaskCancellationHandler {
      await Result(catching: queue.next)
    } onCancel: {
      queue.fail(.cancelled)
      channel.close(promise: nil)
    }
    return try result.get()
  }

  func abandon() { channel.close(promise: nil) }

  private static func encode(
    _ parameters: some Encodable
  ) throws(VarlinkClientError) -> [JSONName: JSONValue] {
    do {
      if let members = try JSONValue(encoding: parameters).objectValue { return members }
    } catch { throw .invalidParameters("\(error)") }
    throw .invalidParameters("not an object")
  }

  static func decode<Reply: Decodable>(
    _ type: Reply.Type, _ parameters: [JSONName: JSONValue]
  ) throws(VarlinkClientError) -> Reply {
    do {
      return try JSONValue.object(parameters).decode(type)
    } catch { throw .unexpectedReply("\(error)") }
  }
}

extension Result where Success: Sendable {
  fileprivate init(catching body: () async throws(Failure) -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
