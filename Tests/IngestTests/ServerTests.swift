import Glibc
import Ingest
import LiveEvents
import NIOCore
import NIOPosix
import SocketTestSupport
import Synchronization
import TestSupport
import Testing
import UnixSockets

/// Consumes on another thread, and records the largest number of outstanding bytes.
private final class SlowSink: IngestSink {
  private struct State {
    var events = 0
    var outstanding = 0
    var most = 0
  }

  private let loop: any EventLoop
  private let state = Mutex(State())

  init(_ loop: any EventLoop) { self.loop = loop }

  func deliver(_ delivery: RoomDelivery) {
    let count = delivery.received
    state.withLock { state in
      state.outstanding += count
      state.most = max(state.most, state.outstanding)
    }
    loop.execute {
      self.state.withLock { state in
        state.outstanding -= count
        state.events += count
      }
      delivery.receipt.markApplied()
    }
  }

  func rejectUnroutable(_ counts: RejectionCounts) {}

  var events: Int { state.withLock { $0.events } }
  var mostOutstanding: Int { state.withLock { $0.most } }
}

@Suite struct IngestSocketTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/ingest" }

  func serve(
    _ sink: any IngestSink, _ change: (inout IngestConfiguration) -> Void = { _ in },
    _ body: (IngestServer) async throws -> Void
  ) async throws {
    var configuration = IngestConfiguration()
    change(&configuration)
    let server = try await IngestServer.start(
      on: .bind(path: path), group: MultiThreadedEventLoopGroup.singleton,
      configuration: configuration, sink: sink)
    try await body(server)
    await server.shutdown()
  }

  @Test func `the server accepts lines and answers a sync`() async throws {
    let sink = RecordingSink()
    try await serve(sink) { _ in
      let client = try BlockingClient(path)
      client.send(
        #"{"type":"viewers","count":3}"# + "\nnonsense\n" + #"{"type":"sync","token":"t"}"# + "\n")
      #expect(client.readLine() == #"{"type":"synced","token":"t","received":2,"rejected":1}"#)
      #expect(sink.payloads("main") == [.header(.viewers(count: 3))])
    }
  }

  @Test
  func `the server answers a client that has closed its side, and then closes the connection`()
    async throws
  {
    try await serve(RecordingSink()) { _ in
      let client = try BlockingClient(path)
      client.send(#"{"type":"chat.clear"}"# + "\n" + #"{"type":"sync","token":"t"}"# + "\n{\"type")
      client.finish()
      #expect(
        client.readToEnd() == #"{"type":"synced","token":"t","received":1,"rejected":0}"# + "\n")
    }
  }

  @Test
  func `the server survives invalid input and clients that disconnect in the middle of a line`()
    async throws
  {
    let sink = RecordingSink()
    try await serve(sink) { server in
      let steady = try BlockingClient(path)
      do {
        let leaving = try BlockingClient(path)
        leaving.send(#"{"type":"viewers","count":1,"room":"left"}"# + "\n{\"type\":\"chat.mess")
        // The client sees the end when the server closes its side.
        leaving.finish()
        #expect(leaving.readToEnd() == "")
      }
      steady.send([UInt8](repeating: UInt8(ascii: "x"), count: 10 << 20) + [0x0A])
      steady.send([UInt8](repeating: 0, count: 4096) + [0x0A, 0xFF, 0x0A])
      steady.send(
        "{\n@id=1;use\n" + #"{"type":"nonsense"}"# + "\n" + #"{"type":"chat.clear"}"# + "\n")
      steady.send(#"{"type":"sync","token":"t"}"# + "\n")
      #expect(steady.readLine() == #"{"type":"synced","token":"t","received":7,"rejected":6}"#)
      #expect(sink.payloads("left") == [.header(.viewers(count: 1))])
      #expect(sink.payloads("main") == [.chat(.clear)])
      #expect(sink.rejections("main") == [.unknownType: 1])
      #expect(
        sink.unroutable == [
          .malformedJSON: 2, .lineTooLong: 1, .unknownFormat: 1, .invalidUTF8: 1, .malformedIRC: 1,
        ])
      #expect(server.statistics.acceptedConnections == 2)
    }
  }

  @Test func `the server reads from an endless sender no faster than the sink consumes`()
    async throws
  {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let sink = SlowSink(group.next())
    let line = #"{"type":"title","title":""# + String(repeating: "x", count: 974) + "\"}\n"
    let lineCount = 40_000
    try await serve(sink, { $0.maximumOutstandingBytes = 128 * 1024 }) { _ in
      let client = try BlockingClient(path)
      let block = Array(String(repeating: line, count: 100).utf8)
      for _ in 0..<lineCount / 100 { client.send(block) }
      client.send(#"{"type":"sync","token":"t"}"# + "\n")
      #expect(
        client.readLine()
          == #"{"type":"synced","token":"t","received":\#(lineCount),"rejected":0}"#)
    }
    #expect(sink.events == lineCount)
    // The server may hold the limit, one burst of four reads, and an incomplete line.
    #expect(sink.mostOutstanding * line.utf8.count <= (128 + 4 * 64 + 1) * 1024)
    try await group.shutdownGracefully()
  }

  @Test func `connections above the server's limit are refused until another connection ends`()
    async throws
  {
    try await serve(RecordingSink(), { $0.maximumConnections = 1 }) { server in
      do {
        let first = try BlockingClient(path)
        first.send(#"{"type":"sync","token":"t"}"# + "\n")
        #expect(first.readLine()?.contains("synced") == true)
        let second = try BlockingClient(path)
        #expect(
          second.readToEnd()
            == #"{"type":"refused","reason":"the limit ingest.connections is reached"}"#
            + "\n")
        #expect(server.statistics.refusedConnections == 1)
        #expect(server.refusals.rows.map(\.row.resource) == [.ingestConnection])
        first.finish()
        #expect(first.readToEnd() == "")
      }
      // The connection counts as open until the event loop has handled its end.
      while server.statistics.openConnections > 0 { await Task.yield() }
      let third = try BlockingClient(path)
      third.send(#"{"type":"sync","token":"t"}"# + "\n")
      #expect(third.readLine()?.contains("synced") == true)
    }
  }

  @Test func `a user who may not send gets the reason, and the refusal is counted`()
    async throws
  {
    try await serve(RecordingSink(), { $0.maySend = { $0.userID != geteuid() } }) { server in
      let client = try BlockingClient(path)
      #expect(
        client.readToEnd()
          == #"{"type":"refused","reason":"this user may not send events"}"# + "\n")
      #expect(
        server.refusals.rows.map(\.row) == [.init(user: geteuid(), resource: .ingestPermission)])
      #expect(server.statistics.openConnections == 0)
    }
  }

  @Test
  func
    `stopping the server closes connections, removes the socket file and refuses new connections`()
    async throws
  {
    let sink = RecordingSink()
    let server = try await IngestServer.start(
      on: .bind(path: path), group: MultiThreadedEventLoopGroup.singleton, sink: sink)
    let client = try BlockingClient(path)
    client.send(#"{"type":"viewers","count":1}"# + "\n" + #"{"type":"sync","token":"t"}"# + "\n")
    _ = client.readLine()
    await server.shutdown()
    #expect(client.readToEnd() == "")
    #expect(throws: SocketFailure.self) { try BlockingClient(path) }
    #expect(access(path, F_OK) != 0)
    #expect(server.statistics.openConnections == 0)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a stopping server does not wait for a client that does not read its answers`()
    async throws
  {
    let sink = RecordingSink()
    var configuration = IngestConfiguration()
    configuration.drainTimeout = .zero
    let server = try await IngestServer.start(
      on: .bind(path: path), group: MultiThreadedEventLoopGroup.singleton,
      configuration: configuration, sink: sink)
    let client = try BlockingClient(path)
    // Answers repeat the token. The kernel buffers four of these answers; the fifth remains in the
    // server.
    let token = String(repeating: "t", count: 60_000)
    for _ in 0..<8 {
      client.send(#"{"type":"chat.clear"}"# + "\n" + #"{"type":"sync","token":"\#(token)"}"# + "\n")
    }
    while sink.payloads("main").count < 5 { await Task.yield() }
    await server.shutdown()
    #expect(!Task.isCancelled)
    #expect(server.statistics.openConnections == 0)
  }

  @Test func `an inherited socket is served, and its file is not removed`() async throws {
    let descriptor = try makeListeningSocket(path)
    let sink = RecordingSink()
    let server = try await IngestServer.start(
      on: .adopt(descriptor: descriptor), group: MultiThreadedEventLoopGroup.singleton, sink: sink)
    let client = try BlockingClient(path)
    client.send(#"{"type":"chat.clear"}"# + "\n" + #"{"type":"sync","token":"t"}"# + "\n")
    #expect(client.readLine()?.contains(#""received":1"#) == true)
    await server.shutdown()
    #expect(access(path, F_OK) == 0)
  }
}
