import Glibc
import JSON
import NIOCore
import NIOPosix
import SocketTestSupport
import Testing
import UnixSockets
import Varlink

/// Tests the limits for clients without rights. A test that waits for something that never happens
/// fails by the time limit.
@Suite(.serialized, .timeLimit(.minutes(1))) struct StrangerTests {
  static func limits(_ change: (inout VarlinkServer.Limits) -> Void = { _ in })
    -> VarlinkServer.Limits
  {
    var limits = VarlinkServer.Limits()
    limits.hasRights = { _ in false }
    change(&limits)
    return limits
  }

  @Test func `a call that is too long for a client without rights is refused with the reason`()
    async throws
  {
    let limits = Self.limits {
      $0.callTooLong = VarlinkError(name: "org.example.test.Failed", parameters: ["why": "long"])
    }
    try await withServer([try Example().interface()], limits: limits) { path, server in
      let client = try BlockingClient(path)
      let length = limits.messageBytesWithoutRights - ServerProtocolTests.echo("").utf8.count + 1
      let longest = ServerProtocolTests.echo(String(repeating: "x", count: length))
      client.send(longest)
      #expect(client.receive()?.contains("xxx") == true)
      client.send(ServerProtocolTests.echo(String(repeating: "x", count: length + 1)))
      #expect(client.receive()?.contains("org.example.test.Failed") == true)
      #expect(client.receive() == nil)
      let other = try BlockingClient(path)
      other.send(ServerProtocolTests.echo("short"))
      #expect(other.receive() != nil)
      #expect(server.refusals.rows.map(\.row) == [.init(user: getuid(), resource: .callLength)])
    }
  }

  @Test func `clients with rights may send long calls`() async throws {
    let limits = Self.limits { $0.hasRights = { $0.userID == getuid() } }
    try await withServer([try Example().interface()], limits: limits) { path, _ in
      let client = try BlockingClient(path)
      client.send(ServerProtocolTests.echo(String(repeating: "x", count: 1 << 20)))
      #expect(client.receive()?.utf8.count ?? 0 > 1 << 20)
    }
  }

  @Test(arguments: [false, true])
  func `an incomplete call ends the connection when its time limit is over`(afterAnother: Bool)
    async throws
  {
    let limits = Self.limits { $0.messageTimeout = .milliseconds(1) }
    try await withServer([try Example().interface()], limits: limits) { path, server in
      let client = try BlockingClient(path)
      client.send((afterAnother ? ServerProtocolTests.echo("whole") : "") + "{\"method\":")
      if afterAnother { #expect(client.receive() != nil) }
      #expect(client.receive() == nil)
      #expect(server.refusals.rows.map(\.row.resource) == [.unfinishedCall])
      // An idle connection is not closed.
      let idle = try BlockingClient(path)
      for _ in 0..<3 {
        idle.send(ServerProtocolTests.echo("whole"))
        #expect(idle.receive() != nil)
      }
    }
  }

  @Test func `incomplete calls share a memory budget, and the oldest connection is closed`()
    async throws
  {
    let limits = Self.limits {
      $0.heldBytesPerUser = 64 << 10
      $0.messageTimeout = .hours(1)
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await withServer([try Example().interface()], limits: limits, group: group) {
      path, server in
      // The answer proves that the only event loop has read everything sent before this call.
      func answer() throws {
        let witness = try BlockingClient(path)
        witness.send(ServerProtocolTests.echo("in between"))
        #expect(witness.receive() != nil)
      }
      let first = try BlockingClient(path)
      first.send(String(repeating: "x", count: 10_000))
      try answer()
      var others: [BlockingClient] = []
      while server.refusals.total == 0 {
        try #require(others.count < 16)
        let other = try BlockingClient(path)
        other.send(String(repeating: "x", count: 10_000))
        others.append(other)
        try answer()
      }
      #expect(first.receive() == nil)
      #expect(server.refusals.rows.map(\.row.resource) == [.memory])
    }
    try await group.shutdownGracefully()
  }

  @Test func `the longest idle connection is closed, unless a call runs on it`() async throws {
    let example = Example()
    let limits = Self.limits { $0.connectionsPerUser = 3 }
    try await withServer([try example.interface()], limits: limits) { path, server in
      // Waits for a reply, so that all connections are registered in this order.
      func connect() throws -> BlockingClient {
        let client = try BlockingClient(path)
        client.send(ServerProtocolTests.echo("here"))
        #expect(client.receive() != nil)
        return client
      }
      let busy = try connect()
      busy.send(#"{"method":"org.example.test.HangMore","more":true}"# + "\0")
      await example.hangStarted.wait()
      let (first, second) = (try connect(), try connect())
      let third = try connect()
      #expect(first.receive() == nil)
      for client in [second, third] {
        client.send(ServerProtocolTests.echo("still"))
        #expect(client.receive() != nil)
      }
      #expect(server.connectionCount == 3)
      #expect(server.monitorCount == 1)
      #expect(server.refusals.rows.map(\.row.resource) == [.idleConnection])
      busy.close()
      await example.hangCancelled.wait()
    }
  }

  @Test func `a complete call that waits to be run does not count as incomplete`() async throws {
    let example = Example()
    let limits = Self.limits { $0.messageTimeout = .nanoseconds(1) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await withServer([try example.interface()], limits: limits, group: group) { path, server in
      let (holder, waiting) = (try BlockingClient(path), try BlockingClient(path))
      holder.send(#"{"method":"org.example.test.Hang"}"# + "\0")
      await example.hangStarted.wait()
      waiting.send(ServerProtocolTests.echo("waits"))
      // The same event loop closes this connection, although it arrived later.
      let unfinished = try BlockingClient(path)
      unfinished.send("{")
      #expect(unfinished.receive() == nil)
      #expect(waiting.receive()?.contains("waits") == true)
      #expect(server.refusals.rows.map(\.row.resource) == [.unfinishedCall])
      holder.close()
      await example.hangCancelled.wait()
    }
    try await group.shutdownGracefully()
  }

  @Test func `the parameters of a call are released after decoding`() async throws {
    let (seen, release) = (Signal(), Signal())
    var interface = try Interface(parsing: "interface a.b\nmethod Wait(text: string) -> ()")
    try interface.handle("Wait") { (call, parameters: EchoParameters) in
      #expect(parameters.text == "x")
      #expect(call.parameters.isEmpty)
      seen.fire()
      await release.wait()
      return NoParameters()
    }
    try await withServer([interface]) { path, _ in
      let client = try BlockingClient(path)
      client.send("{\"method\":\"a.b.Wait\",\"parameters\":{\"text\":\"x\"}}\0")
      await seen.wait()
      release.fire()
      #expect(client.receive() == #"{"parameters":{}}"#)
    }
  }
}
