import Glibc
import JSON
import NIOCore
import NIOPosix
import SocketTestSupport
import TestSupport
import Testing
import Varlink
import VarlinkDescription

@Suite(.serialized) struct ClientTests {
  private let directory = TemporaryDirectory()

  @Test func `a Varlink service describes itself`() async throws {
    try await withServer([try Example().interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let info = try await client.call("org.varlink.service.GetInfo", returning: GetInfoReply.self)
      #expect(info.product == "Test")
      #expect(info.interfaces == ["org.varlink.service", "org.example.test"])
      for interface in info.interfaces {
        let reply = try await client.callRaw(
          "org.varlink.service.GetInterfaceDescription", ["interface": .string(interface)])
        let text = try #require(reply["description"]?.stringValue)
        let description = try InterfaceDescription(parsing: text)
        #expect(description.name == interface && description.systemdViolations == [])
      }
    }
  }

  @Test func `each of several concurrent calls gets its own reply`() async throws {
    try await withServer([try Example().interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            let sent = EchoParameters(text: "\(number)")
            let reply: EchoParameters = try await client.call("org.example.test.Echo", sent)
            #expect(reply == sent)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `a series of replies ends with the last reply, and the connection remains open`()
    async throws
  {
    try await withServer([try Example().interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      var numbers: [Int] = []
      // The server sends more replies than the client queues.
      let series = try client.callMore(
        "org.example.test.Count", Example.CountParameters(to: 500),
        returning: Example.CountReply.self)
      for try await reply in series { numbers.append(reply.number) }
      #expect(numbers == Array(1...500))
      let echo: EchoParameters = try await client.call(
        "org.example.test.Echo", EchoParameters(text: "after"))
      #expect(echo.text == "after")
    }
  }

  @Test func `errors of Varlink calls are decoded to their types`() async throws {
    try await withServer([try Example().interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let failed = VarlinkError(name: "org.example.test.Failed", parameters: ["why": "asked to"])
      await #expect(throws: VarlinkClientError.remote(failed)) {
        try await client.callRaw("org.example.test.Fail")
      }
      do {
        _ = try await client.callRaw("org.example.test.CountMore", ["to": 1])
        Issue.record("no error")
      } catch VarlinkClientError.remote(let error) {
        #expect(ServiceError(error) == .expectedMore)
      }
      await #expect(throws: VarlinkClientError.self) {
        try await client.call(
          "org.example.test.Echo", EchoParameters(text: ""), returning: GetInfoReply.self)
      }
      let echo: EchoParameters = try await client.call(
        "org.example.test.Echo", EchoParameters(text: "after"))
      #expect(echo.text == "after")
    }
  }

  @Test func `each standard error of Varlink is encoded and decoded unchanged`() {
    let all: [ServiceError] = [
      .interfaceNotFound("a"), .methodNotFound("b"), .methodNotImplemented("c"),
      .invalidParameter("d"), .permissionDenied, .expectedMore, .expectedUpgrade,
    ]
    for error in all { #expect(ServiceError(error.varlinkError) == error) }
    #expect(ServiceError(VarlinkError(name: "org.varlink.service.Other")) == nil)
  }

  @Test func `a one-way call is executed before the next call is answered`() async throws {
    let example = Example()
    try await withServer([try example.interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      try await client.callOneway("org.example.test.Echo", EchoParameters(text: "silent"))
      _ = try await client.callRaw("org.example.test.Count", ["to": 1])
      #expect(example.echoes.value == 1)
    }
  }

  @Test func `a call to a server that does not exist reports the missing socket`() async throws {
    let path = "\(directory.path)/socket"
    await #expect(throws: VarlinkClientError.notReachable(path: path, code: ENOENT)) {
      try await VarlinkClient.connect(path: path)
    }
    close(try makeListeningSocket(path))
    await #expect(throws: VarlinkClientError.notReachable(path: path, code: ECONNREFUSED)) {
      try await VarlinkClient.connect(path: path)
    }
    let long = String(repeating: "x", count: 200)
    await #expect(throws: VarlinkClientError.notReachable(path: long, code: ENAMETOOLONG)) {
      try await VarlinkClient.connect(path: long)
    }
  }

  static let violations = [
    "{\"continues\":true}\0", "nonsense\0", "{\"parameters\":1}\0", "{\"error\":1}\0",
    "{\"extra\":1}\0",
  ]

  @Test(arguments: violations)
  func `a client reports a protocol violation by the server`(reply: String) async throws {
    try await withFakeServer(reply: reply) { client in
      do {
        _ = try await client.callRaw("a.b.C")
        Issue.record("no error")
      } catch VarlinkClientError.protocolViolation {
      }
    }
  }

  @Test func `a client reports a connection that ends before the reply`() async throws {
    try await withFakeServer(reply: "{\"parameters\":") { client in
      await #expect(throws: VarlinkClientError.connectionClosed) {
        try await client.callRaw("a.b.C")
      }
      await #expect(throws: VarlinkClientError.connectionClosed) {
        try await client.callRaw("a.b.C")
      }
    }
  }

  @Test func `all replies that arrive before the end of a connection are delivered`() async throws {
    let path = "\(directory.path)/socket"
    let listener = try makeListeningSocket(path)
    defer { close(listener) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let client = try await VarlinkClient.connect(path: path, group: group)
    let series = try client.callMore("a.b.C", returning: Example.CountReply.self)
    // The server sends more replies than the client queues, and half of another reply.
    let replies = (1...100).map { "{\"continues\":true,\"parameters\":{\"number\":\($0)}}\0" }
    answer(listener, replies.joined() + "{\"param")
    // Turns of the loop in which the client detects the end, before a reply is consumed.
    for _ in 0..<3 { try await group.next().submit {}.get() }
    var numbers: [Int] = []
    await #expect(throws: VarlinkClientError.connectionClosed) {
      for try await reply in series { numbers.append(reply.number) }
    }
    #expect(numbers == Array(1...100))
    try await group.shutdownGracefully()
  }

  @Test func `cancelling a call ends it immediately and cancels the method`() async throws {
    let example = Example()
    try await withServer([try example.interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let task = Task { try await client.callRaw("org.example.test.Hang") }
      await example.hangStarted.wait()
      task.cancel()
      await #expect(throws: VarlinkClientError.cancelled) { try await task.value }
      await example.hangCancelled.wait()
    }
  }

  @Test func `releasing a series of replies cancels the method`() async throws {
    let example = Example()
    try await withServer([try example.interface()]) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      do {
        let series = try client.callMore(
          "org.example.test.HangMore", returning: NoParameters.self)
        await example.hangStarted.wait()
        _ = series
      }
      await example.hangCancelled.wait()
    }
  }

  /// Starts a server that answers the first call with these bytes and closes the connection.
  private func withFakeServer(
    reply: String, _ body: @escaping @Sendable (VarlinkClient) async throws -> Void
  ) async throws {
    let path = "\(directory.path)/socket"
    let listener = try makeListeningSocket(path)
    defer { close(listener) }
    let client = try await VarlinkClient.connect(path: path)
    async let called: Void = body(client)
    answer(listener, reply)
    try await called
  }

  /// Answers the first call of the first client with these bytes and closes the connection.
  private func answer(_ listener: CInt, _ reply: String) {
    let peer = accept(listener, nil, nil)
    var byte: UInt8 = 1
    while byte != 0, recv(peer, &byte, 1, 0) == 1 {}
    _ = Array(reply.utf8).withUnsafeBytes { send(peer, $0.baseAddress, $0.count, 0) }
    close(peer)
  }
}
