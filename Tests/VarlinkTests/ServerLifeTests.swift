import Glibc
import JSON
import NIOCore
import NIOPosix
import SocketTestSupport
import Synchronization
import TestSupport
import Testing
import UnixSockets
import Varlink

/// Tests connections that end, read slowly or exceed limits, and existing sockets.
@Suite(.serialized) struct ServerLifeTests {
  private let directory = TemporaryDirectory()

  @Test(arguments: ["Hang", "HangMore"])
  func `a client's disconnection cancels its running call`(method: String) async throws {
    let example = Example()
    try await withServer([try example.interface()]) { path, _ in
      let client = try BlockingClient(path)
      client.send(ServerProtocolTests.call(method, method == "Hang" ? "" : ",\"more\":true"))
      await example.hangStarted.wait()
      client.close()
      await example.hangCancelled.wait()
    }
  }

  @Test func `a disconnection drops the calls after the running one, except one-way calls`()
    async throws
  {
    let example = Example()
    try await withServer([try example.interface()]) { path, _ in
      let client = try BlockingClient(path)
      client.send(
        ServerProtocolTests.call("Hang") + ServerProtocolTests.echo("dropped")
          + ServerProtocolTests.echo("kept", ",\"oneway\":true"))
      await example.hangStarted.wait()
      client.close()
      await example.hangCancelled.wait()
      await example.echoed.wait()
      #expect(example.echoes.value == 1)
    }
  }

  @Test func `a one-way call is executed even if its client disconnects immediately`() async throws
  {
    let example = Example()
    try await withServer([try example.interface()]) { path, _ in
      let client = try BlockingClient(path)
      client.send(ServerProtocolTests.echo("kept", ",\"oneway\":true"))
      client.close()
      await example.echoed.wait()
    }
  }

  @Test
  func `replies to a slow reader are buffered up to a limit, and further replies follow later`()
    async throws
  {
    var limits = VarlinkServer.Limits()
    limits.outputBytes = 256 << 10
    let payload = ByteBuffer(
      string: "{\"text\":\"\(String(repeating: "x", count: (64 << 10) - 11))\"}")
    let taken = Mutex(0)
    let full = Signal()
    var interface = try Interface(parsing: "interface a.b\nmethod Flood() -> (text: string)")
    try interface.handleRawStream("Flood") { _, replies in
      // Nothing is written on the event loop before this handler suspends.
      while try replies.trySend(parameters: payload) { taken.withLock { $0 += 1 } }
      #expect(!replies.isWritable)
      full.fire()
      for _ in 0..<100 { try await replies.send(parameters: payload) }
      return ByteBuffer(string: "{}")
    }
    try await withServer([interface], limits: limits) { path, _ in
      let client = try BlockingClient(path)
      client.send("{\"method\":\"a.b.Flood\",\"more\":true}\0")
      await full.wait()
      #expect(taken.withLock { $0 } == 4)
      var count = 0
      while let reply = client.receive(), reply.hasPrefix("{\"continues\"") { count += 1 }
      #expect(count == 104)
    }
  }

  @Test func `further calls of a client that does not read stay unparsed`() async throws {
    let started = Counter()
    let big = ByteBuffer(string: "{\"text\":\"\(String(repeating: "x", count: 2 << 20))\"}")
    var interface = try Interface(parsing: "interface a.b\nmethod Big() -> (text: string)")
    try interface.handleRaw("Big") { _ in
      started.increment()
      return big
    }
    try await withServer([interface]) { path, _ in
      let client = try BlockingClient(path)
      client.send(String(repeating: "{\"method\":\"a.b.Big\"}\0", count: 200))
      #expect(client.receive()?.utf8.count ?? 0 > 2 << 20)
      // The second reply fills the kernel's buffer long before its end, so the third call cannot
      // begin.
      #expect(started.value <= 2)
    }
  }

  @Test func `error replies that a client does not read keep its further calls unparsed`()
    async throws
  {
    let started = Counter()
    let begun = Signal()
    let why = String(repeating: "x", count: 2 << 20)
    var interface = try Interface(
      parsing: "interface a.b\nmethod Fail() -> ()\nerror Big(why: string)")
    try interface.handleRaw("Fail") { _ in
      started.increment()
      begun.fire()
      throw VarlinkError(name: "a.b.Big", parameters: ["why": .string(why)])
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await withServer([interface, try Example().interface()], group: group) { path, _ in
      let client = try BlockingClient(path)
      client.send(String(repeating: "{\"method\":\"a.b.Fail\"}\0", count: 20))
      await begun.wait()
      // Each of these calls takes the only event loop as many turns as a failing call.
      let other = try BlockingClient(path)
      for _ in 0..<20 {
        other.send(ServerProtocolTests.echo("turn"))
        #expect(other.receive() != nil)
      }
      #expect(started.value == 1)
      for _ in 0..<20 { #expect(client.receive()?.utf8.count ?? 0 > 2 << 20) }
      #expect(started.value == 20)
    }
    try await group.shutdownGracefully()
  }

  @Test func `the number of connections and of monitors is limited`() async throws {
    var limits = VarlinkServer.Limits()
    limits.connections = 2
    limits.monitors = 1
    limits.tooManyMonitors = VarlinkError(name: "org.example.test.Failed")
    let example = Example()
    try await withServer([try example.interface()], limits: limits) { path, server in
      let first = try BlockingClient(path)
      first.send(ServerProtocolTests.call("HangMore", ",\"more\":true"))
      await example.hangStarted.wait()
      #expect(server.monitorCount == 1)
      let second = try BlockingClient(path)
      second.send(ServerProtocolTests.call("HangMore", ",\"more\":true"))
      #expect(second.receive() == #"{"error":"org.example.test.Failed"}"#)
      second.send(ServerProtocolTests.call("Hang"))
      await example.hangStarted.wait()
      #expect(server.connectionCount == 2)
      // Neither of the two connections is idle.
      #expect(try BlockingClient(path).receive() == nil)
      #expect(server.refusals.rows.map(\.row.resource) == [.connection, .monitor])
      second.close()
      await example.hangCancelled.wait()
      let third = try BlockingClient(path)
      third.send(ServerProtocolTests.echo("idle from now on"))
      #expect(third.receive() != nil)
      first.close()
      await example.hangCancelled.wait()
      third.send(ServerProtocolTests.echo("alive"))
      #expect(third.receive() == #"{"parameters":{"text":"alive"}}"#)
    }
  }

  @Test func `the server sees the credentials of the connected process`() async throws {
    let seen = Mutex<Peer?>(nil)
    var interface = try Interface(parsing: "interface a.b\nmethod Who() -> ()")
    try interface.handle("Who") { (call, _: NoParameters) in
      seen.withLock { $0 = call.peer }
      return NoParameters()
    }
    try await withServer([interface]) { path, _ in
      let client = try BlockingClient(path)
      client.send("{\"method\":\"a.b.Who\"}\0")
      #expect(client.receive() != nil)
    }
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    getgroups(CInt(groups.count), &groups)
    let peer = try #require(seen.withLock { $0 })
    #expect(peer.userID == getuid() && peer.groupID == getgid() && peer.processID == getpid())
    #expect(peer.supplementaryGroupIDs.sorted() == groups.sorted())
    #expect(peer.belongs(toGroup: getgid()))
    let foreign = try #require((1...gid_t.max).first { $0 != getgid() && !groups.contains($0) })
    #expect(!peer.belongs(toGroup: foreign))
  }

  @Test func `authorisation is checked before the parameters`() async throws {
    var interface = try Example().interface()
    interface.authorization = { call in
      if call.method == "Echo" { throw ServiceError.permissionDenied }
    }
    try await withServer([interface]) { path, _ in
      let client = try BlockingClient(path)
      client.send(ServerProtocolTests.call("Echo") + ServerProtocolTests.call("Fail"))
      #expect(client.receive() == #"{"error":"org.varlink.service.PermissionDenied"}"#)
      #expect(client.receive()?.contains("Failed") == true)
    }
  }

  private func start(_ socket: ListeningSocket) async throws -> VarlinkServer {
    try await VarlinkServer.start(
      on: socket, information: testInformation, interfaces: [try Example().interface()],
      group: MultiThreadedEventLoopGroup.singleton)
  }

  @Test func `a socket can be used by one server at a time`() async throws {
    let socket = try ListeningSocket.bind(path: "\(directory.path)/socket")
    let server = try await start(socket)
    await #expect(throws: VarlinkServer.StartError.socketTaken) { try await start(socket) }
    await server.shutdown()
    #expect(access("\(directory.path)/socket", F_OK) != 0)
  }

  @Test func `an inherited socket is served, and its file is not removed`() async throws {
    let path = "\(directory.path)/socket"
    let early: BlockingClient
    let listener = try makeListeningSocket(path)
    early = try BlockingClient(path)
    early.send(ServerProtocolTests.echo("early"))
    let server = try await start(.adopt(descriptor: listener))
    #expect(early.receive() == #"{"parameters":{"text":"early"}}"#)
    await server.shutdown()
    #expect(access(path, F_OK) == 0)
  }

  @Test func `the handlers of a server must match its interface description`() throws {
    var interface = try Interface(parsing: Example.text)
    #expect(interface.unimplementedMethods.count == 7)
    #expect(
      throws: RegistrationError.notInDescription(interface: "org.example.test", method: "None")
    ) { try interface.handleRaw("None") { _ in ByteBuffer() } }
    try interface.handleRaw("Echo") { _ in ByteBuffer() }
    #expect(
      throws: RegistrationError.registeredTwice(interface: "org.example.test", method: "Echo")
    ) { try interface.handleRaw("Echo") { _ in ByteBuffer() } }
  }
}
