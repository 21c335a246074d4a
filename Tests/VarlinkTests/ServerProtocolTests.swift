import JSON
import SocketTestSupport
import Testing
import Varlink
import VarlinkDescription

/// Tests the protocol byte for byte.
@Suite(.serialized) struct ServerProtocolTests {
  static func call(_ method: String, _ rest: String = "") -> String {
    "{\"method\":\"org.example.test.\(method)\"\(rest)}\0"
  }

  static func echo(_ text: String, _ rest: String = "") -> String {
    call("Echo", ",\"parameters\":{\"text\":\"\(text)\"}\(rest)")
  }

  /// Sends a text and returns this number of replies; nil for each reply that is missing because
  /// the server has closed the connection.
  private func replies(
    to text: String, count: Int, limits: VarlinkServer.Limits = .init()
  ) async throws -> [String?] {
    try await withServer([try Example().interface()], limits: limits) { path, _ in
      let client = try BlockingClient(path)
      client.send(text)
      return (0..<count).map { _ in client.receive() }
    }
  }

  @Test func `pipelined calls are answered in order, whatever kinds they have`() async throws {
    let text =
      Self.echo("one") + Self.call("Fail") + Self.echo("silent", ",\"oneway\":true")
      + Self.call("Fail", ",\"oneway\":true")
      + Self.call("Count", ",\"parameters\":{\"to\":3},\"more\":true") + Self.echo("two")
    #expect(
      try await replies(to: text, count: 6) == [
        #"{"parameters":{"text":"one"}}"#,
        #"{"error":"org.example.test.Failed","parameters":{"why":"asked to"}}"#,
        #"{"continues":true,"parameters":{"number":1}}"#,
        #"{"continues":true,"parameters":{"number":2}}"#,
        #"{"parameters":{"number":3}}"#, #"{"parameters":{"text":"two"}}"#,
      ])
  }

  @Test func `a reply has the flag continues only after a call with more`() async throws {
    let text =
      Self.call("Count", ",\"parameters\":{\"to\":3}")
      + Self.call("CountMore", ",\"parameters\":{\"to\":3}")
      + Self.echo("x", ",\"more\":true")
    #expect(
      try await replies(to: text, count: 3) == [
        #"{"parameters":{"number":3}}"#, #"{"error":"org.varlink.service.ExpectedMore"}"#,
        #"{"parameters":{"text":"x"}}"#,
      ])
  }

  static let malformed = [
    "{\0", "[]\0", "\0", "{}\0", "{\"method\":\0", "{\"method\":7}\0", call("Echo", ",\"more\":1"),
    call("Echo", ",\"oneway\":[]"), call("Echo", ",\"upgrade\":\"yes\""),
    call("Echo", ",\"more\":true,\"oneway\":true"), call("Echo", ",\"more\":true,\"upgrade\":true"),
    call("Echo", ",\"oneway\":true,\"upgrade\":true"), call("Echo", ",\"extra\":null"),
    call("Echo", ",\"parameters\":[]"), "{\"method\":\"a.b.C\"} {}\0",
  ]

  @Test(arguments: malformed)
  func `a malformed message ends the connection after the replies to earlier messages`(text: String)
    async throws
  {
    let replies = try await replies(
      to: Self.echo("before") + text + Self.echo("after"), count: 2)
    #expect(replies == [#"{"parameters":{"text":"before"}}"#, nil])
  }

  @Test func `a message over the limit ends the connection, one at the limit does not`()
    async throws
  {
    var limits = VarlinkServer.Limits()
    limits.messageBytes = Self.echo("xxxx").utf8.count - 1
    #expect(
      try await replies(to: Self.echo("xxxx") + Self.echo("xxxxx"), count: 2, limits: limits)
        == [#"{"parameters":{"text":"xxxx"}}"#, nil])
    let endless = String(repeating: "x", count: limits.messageBytes + 1)
    #expect(try await replies(to: endless, count: 1, limits: limits) == [nil])
  }

  static let errors: [(String, String)] = [
    ("{\"method\":\"org.example.none.Echo\"}\0", "InterfaceNotFound interface=org.example.none"),
    ("{\"method\":\"Echo\"}\0", "InterfaceNotFound interface="),
    (call("None"), "MethodNotFound method=None"),
    (call("Nothing"), "MethodNotImplemented method=Nothing"),
    (call("Echo"), "InvalidParameter parameter=text"),
    (call("Echo", ",\"parameters\":{\"text\":1}"), "InvalidParameter parameter=text"),
    (
      call("Echo", ",\"parameters\":{\"text\":\"\",\"more\":1}"), "InvalidParameter parameter=more"
    ),
    (
      "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
        + "\"parameters\":{\"interface\":\"a.b\"}}\0",
      "InterfaceNotFound interface=a.b"
    ),
    (echo("x", ",\"upgrade\":true"), "MethodNotImplemented method=Echo"),
  ]

  @Test(
    arguments: errors)
  func `an invalid call gets an org.varlink.service error, and the connection stays open`(
    text: String, expected: String
  ) async throws {
    let replies = try await replies(to: text + Self.echo("after"), count: 2)
    let parts = expected.split(separator: " ", maxSplits: 1)
    let parameter = parts[1].split(separator: "=", omittingEmptySubsequences: false)
    let error: JSONValue = [
      "error": .string("org.varlink.service.\(parts[0])"),
      "parameters": [JSONName(parameter[0]): .string(String(parameter[1]))],
    ]
    #expect(replies == [error.description, #"{"parameters":{"text":"after"}}"#])
  }

  @Test(arguments: ["", "x", "xx", "xxx"])
  func `a long name in an error is truncated between two characters`(start: String) async throws {
    let name = start + String(repeating: "\u{1F600}", count: 1000)
    let kept = start + String(repeating: "\u{1F600}", count: (256 - start.utf8.count) / 4)
    let replies = try await replies(
      to: Self.call(name) + "{\"method\":\"\(name).Echo\"}\0"
        // A message that contains a member with this name is malformed and ends the connection.
        + Self.call("Echo", ",\"parameters\":{\"text\":\"\",\"\(name)\":1}"), count: 3)
    let expected: [String?] = [
      ServiceError.methodNotFound(kept), .interfaceNotFound(kept),
    ].map { error in
      JSONValue.object([
        "error": .string(error.varlinkError.name),
        "parameters": .object(error.varlinkError.parameters),
      ]).description
    }
    #expect(kept.utf8.count <= 256 && kept.utf8.count > 252)
    #expect(replies == expected + [nil])
  }

  @Test(arguments: [255, 256, 257])
  func `a name of exactly the maximum length is not truncated in an error`(length: Int) {
    let name = String(repeating: "x", count: length)
    #expect(
      ServiceError.methodNotFound(name).varlinkError.parameters["method"]?.stringValue?.utf8.count
        == min(length, 256))
  }

  @Test func `a client that closes its sending side gets its replies before the connection ends`()
    async throws
  {
    try await withServer([try Example().interface()]) { path, _ in
      let client = try BlockingClient(path)
      client.send(Self.echo("one") + Self.echo("two"))
      client.finish()
      #expect(client.receive() == #"{"parameters":{"text":"one"}}"#)
      #expect(client.receive() == #"{"parameters":{"text":"two"}}"#)
      #expect(client.receive() == nil)
    }
  }
}
