import Foundation
import JSON
import LiveEvents
import LiveSources
import NIOCore
import NIOPosix
import SourceTestSupport
import Testing
import Webhooks

/// Tests the webhook server on real sockets, between senders and a scripted daemon.
@Suite(.timeLimit(.minutes(1)))
struct WebhookSourceTests {
  /// A webhook source on its event loop.
  private struct Fixture: Sendable {
    let group: MultiThreadedEventLoopGroup
    let daemon: TestDaemon
    let reports = Recorded()
    let loop: any EventLoop
    private let source: NIOLoopBoundBox<(WebhookSource, SourceDelivery)?>

    init() async throws {
      group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      loop = group.next()
      daemon = try await TestDaemon(group)
      source = .makeEmptyBox(eventLoop: loop)
    }

    /// Starts the source.
    func start(
      port: Int = 0, secret: String? = nil, request: TimeAmount = .seconds(10),
      connections: Int = 64, maximumBytes: Int = 8 << 20, secretPath: String? = nil,
      signature: String? = nil
    ) async throws {
      let mapping = try WebhookMapping(
        "identifier: id\nevents: [{when: {kind: v}, type: viewers, members: {count: n}}]"
          + (secretPath.map { "\nsecret: \($0)" } ?? "")
          + (signature.map { "\nsignature: \($0)" } ?? ""),
        file: "m.yaml")
      var settings = SourceDelivery.Settings(path: daemon.path, source: "hook", platform: "webhook")
      settings.maximumBytes = maximumBytes
      try await loop.submit { [self, settings] in
        let delivery = SourceDelivery(settings, session: "test", eventLoop: loop)
        var limits = WebhookServer.Limits()
        limits.request = request
        limits.connections = connections
        let source = WebhookSource(
          mapping, address: PeerAddress(host: "127.0.0.1", port: port),
          gate: WebhookGate(secret: secret.map { Secret($0) }, maximumBytes: 4096),
          limits: limits, delivery: delivery, eventLoop: loop)
        let reports = reports
        source.events.changed = { reports.append("\($1.state.rawValue) \($1.reason ?? "")") }
        source.events.failed = { reports.append("failed \($0)") }
        delivery.start()
        source.start()
        self.source.value = (source, delivery)
      }.get()
    }

    func port() async throws -> Int {
      await reports.wait { $0.hasPrefix("live") }
      return try await loop.submit { [source] in source.value?.0.port ?? 0 }.get()
    }

    func refused() async throws -> Int {
      try await loop.submit { [source] in source.value?.0.refused ?? 0 }.get()
    }

    func stop() async throws {
      let finished = try await loop.submit { [source] in
        source.value?.0.stop()
        return source.value?.1.finish(within: .seconds(5))
      }.get()
      try await finished?.get()
      try await daemon.kill()
      try await group.shutdownGracefully()
    }

    /// Posts a body. Returns the status of the answer, or the reason for its absence.
    func post(
      _ body: String, path: String = "/", method: HTTPRequest.Method = .post,
      headers: [(String, String)] = []
    ) async throws -> String {
      let port = try await port()
      let answered = loop.makePromise(of: String.self)
      try await loop.submit { [loop] in
        guard let address = HTTPAddress("http://127.0.0.1:\(port)\(path)") else { return }
        var request = HTTPRequest(
          method, address, headers: headers.map { (name: $0.0, value: $0.1) })
        if method == .post { request.body = .init(type: "application/json", Array(body.utf8)) }
        _ = HTTPFetch(
          request, security: nil, timeout: .seconds(30), eventLoop: loop
        ) { result in
          switch result {
          case .success(let answer): answered.succeed("\(answer.status)")
          case .failure(let failure): answered.succeed(failure.reason)
          }
        }
      }.get()
      return try await answered.futureResult.get()
    }

    /// Sends raw bytes. Returns everything that the server sends until the connection ends.
    func exchange(_ text: String) async throws -> String {
      let port = try await port()
      let ended = loop.makePromise(of: String.self)
      let kept = NIOLoopBoundBox<PeerConnection?>.makeEmptyBox(eventLoop: loop)
      try await loop.submit { [loop] in
        var events = StreamEvents()
        var heard: [UInt8] = []
        events.opened = { kept.value?.send(text) }
        events.received = { heard.append(contentsOf: $0) }
        events.closed = { _ in ended.succeed(String(decoding: heard, as: UTF8.self)) }
        kept.value = PeerConnection(
          to: PeerAddress(host: "127.0.0.1", port: port), security: nil, eventLoop: loop,
          events: events)
      }.get()
      return try await ended.futureResult.get()
    }
  }

  private static let good = #"{"kind":"v","id":"a","n":1}"#

  @Test func `a delivery reaches the daemon before its sender is answered`() async throws {
    let all = try await Fixture()
    try await all.start()
    try await all.daemon.stall(true)
    async let answer = all.post(Self.good)
    await all.daemon.lines.wait { $0.contains("\"viewers\"") }
    #expect(all.daemon.values(of: "count", type: "viewers") == [1])
    try await all.daemon.stall(false)
    #expect(try await answer == "200")
    // A delivery with the same identifier is confirmed but delivered only once.
    #expect(try await all.post(Self.good) == "200")
    #expect(try await all.post(#"{"kind":"v","id":"b","n":2}"#) == "200")
    #expect(all.daemon.values(of: "count", type: "viewers") == [1, 2])
    try await all.stop()
  }

  @Test
  func `a daemon that is killed before it acknowledges a delivery still gets the event once`()
    async throws
  {
    let all = try await Fixture()
    try await all.start()
    try await all.daemon.stall(true)
    async let answer = all.post(Self.good)
    await all.daemon.lines.wait { $0.contains("\"viewers\"") }
    try await all.daemon.kill()
    try await all.daemon.stall(false)
    try await all.daemon.start()
    #expect(try await answer == "200")
    #expect(all.daemon.values(of: "count", type: "viewers") == [1])
    try await all.stop()
  }

  @Test
  func `while the daemon is slow, senders repeat their deliveries, and each event counts once`()
    async throws
  {
    let all = try await Fixture()
    try await all.start()
    _ = try await all.post(#"{"kind":"v","id":"first","n":0}"#)
    try await all.daemon.stall(true)
    // No sender waits forever: each is asked to retry after five seconds.
    let late = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 1...20 {
        group.addTask {
          try await all.post("{\"kind\":\"v\",\"id\":\"m\(number)\",\"n\":\(number)}")
        }
      }
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(late == Array(repeating: "503", count: 20))
    try await all.daemon.stall(false)
    for number in 1...20 {
      #expect(
        try await all.post("{\"kind\":\"v\",\"id\":\"m\(number)\",\"n\":\(number)}") == "200")
    }
    let counts = all.daemon.values(of: "count", type: "viewers").compactMap(\.integerValue)
    #expect(counts.sorted() == Array(0...20))
    try await all.stop()
  }

  @Test func `refused requests are answered with the reason and counted`() async throws {
    let all = try await Fixture()
    try await all.start(secret: "s3cret")
    let secret = [("Authorization", "Bearer s3cret")]
    #expect(try await all.post(Self.good) == "401")
    #expect(try await all.post(Self.good, path: "/?secret=wrong") == "401")
    #expect(try await all.post(Self.good, method: .get, headers: secret) == "405")
    #expect(try await all.post("nonsense", headers: secret) == "400")
    #expect(try await all.post(#"{"kind":"v","id":"x"}"#, headers: secret) == "422")
    #expect(try await all.post(String(repeating: " ", count: 5000), headers: secret) == "413")
    #expect(
      try await all.post(Self.good, headers: secret + [("Origin", "https://evil.example")]) == "403"
    )
    #expect(try await all.refused() == 7)
    #expect(all.daemon.values(of: "count", type: "viewers") == [])
    #expect(try await all.post(Self.good, path: "/?secret=s3cret") == "200")
    #expect(all.daemon.values(of: "count", type: "viewers") == [1])
    #expect(!all.reports.entries.contains { $0.contains("s3cret") })
    #expect(!all.daemon.lines.entries.contains { $0.contains("s3cret") })
    try await all.stop()
  }

  @Test func `a sender that signs its deliveries need not send the secret`() async throws {
    let all = try await Fixture()
    try await all.start(secret: "s3cret", signature: "header:X-Signature")
    // Computed with: printf %s BODY | openssl dgst -sha256 -hmac s3cret
    let code = "1e798f2b935a3c59010937d130aabeb20ef16ea355eed71286040823b7dd023d"
    #expect(try await all.post(Self.good) == "401")
    #expect(try await all.post(Self.good, headers: [("X-Signature", code)]) == "200")
    for submitted in [code.uppercased(), "sha256=" + code] {
      #expect(try await all.post(Self.good, headers: [("x-signature", submitted)]) == "200")
    }
    for submitted in ["", String(code.dropLast()), code + "0", "sha1=" + code, "s3cret"] {
      #expect(
        try await all.post(Self.good, headers: [("X-Signature", submitted)]) == "401",
        "\(submitted)")
    }
    #expect(try await all.post(Self.good + " ", headers: [("X-Signature", code)]) == "401")
    #expect(try await all.post(Self.good, path: "/?secret=s3cret") == "200")
    #expect(all.daemon.values(of: "count", type: "viewers") == [1])
    try await all.stop()
    #expect(!all.reports.entries.contains { $0.contains("s3cret") })
  }

  @Test
  func `the secret is accepted in the body where the mapping names it, and is never printed`()
    async throws
  {
    let all = try await Fixture()
    try await all.start(secret: "s3cret", secretPath: "token")
    #expect(try await all.post(#"{"kind":"v","id":"a","n":1,"token":"wrong"}"#) == "401")
    #expect(try await all.post(#"{"kind":"v","id":"a","n":1}"#) == "401")
    #expect(try await all.post(#"{"kind":"v","id":"a","n":1,"token":["s3cret"]}"#) == "401")
    #expect(try await all.post(#"{"kind":"v","id":"a","n":1,"token":"s3cret"}"#) == "200")
    #expect(try await all.post(#"{"kind":"other","id":"b","token":"s3cret"}"#) == "200")
    #expect(try await all.post(#"{"kind":"v","id":"c","n":2}"#, path: "/?secret=s3cret") == "200")
    #expect(all.daemon.values(of: "count", type: "viewers") == [1, 2])
    try await all.stop()
    #expect(!all.reports.entries.contains { $0.contains("s3cret") })
    #expect(!all.daemon.lines.entries.contains { $0.contains("s3cret") })
  }

  @Test func `a chunked request body is assembled, and its size is limited`() async throws {
    let all = try await Fixture()
    try await all.start()
    let head =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    let pieces = Self.good.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
    #expect(try await all.exchange(head + pieces).hasPrefix("HTTP/1.1 200"))
    let chunk = "400\r\n" + String(repeating: "x", count: 1024) + "\r\n"
    #expect(
      try await all.exchange(head + String(repeating: chunk, count: 6)).hasPrefix("HTTP/1.1 413"))
    try await all.stop()
  }

  @Test(arguments: [
    ("", "408"), ("POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ", "408"),
    ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{", "408"),
    ("POST / HTTP/1.1\r\nX-Long: \(String(repeating: "x", count: 9_000))\r\n\r\n", "400"),
    ("nonsense\r\n\r\n", "400"), ("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "400"),
    ("POST /?secret=a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", "408"),
  ])
  func `slow or invalid webhook requests are refused and counted`(
    text: String, status: String
  ) async throws {
    let all = try await Fixture()
    try await all.start(request: .milliseconds(200))
    #expect(try await all.exchange(text).hasPrefix("HTTP/1.1 \(status)"))
    #expect(try await all.refused() == 1)
    #expect(try await all.post(Self.good) == "200")
    try await all.stop()
  }

  @Test func `one connection can carry many deliveries one after another`() async throws {
    let all = try await Fixture()
    try await all.start()
    func request(_ number: Int, _ last: Bool) -> String {
      let body = "{\"kind\":\"v\",\"id\":\"k\(number)\",\"n\":\(number)}"
      return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n"
        + (last ? "Connection: close\r\n" : "") + "\r\n" + body
    }
    // The second request arrives before the first is answered. HTTP allows pipelined requests, but
    // senders of webhooks do not use them.
    let answer = try await all.exchange(request(1, false) + request(2, true))
    #expect(answer.hasPrefix("HTTP/1.1 400"))
    let expecting =
      "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n"
      + "Content-Length: \(Self.good.utf8.count)\r\n\r\n" + Self.good
    let continued = try await all.exchange(expecting)
    #expect(continued.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "\(continued)")
    try await all.stop()
  }

  @Test func `webhook connections above the limit are closed and counted`() async throws {
    let all = try await Fixture()
    try await all.start(request: .milliseconds(500), connections: 2)
    async let first = all.exchange("")
    async let second = all.exchange("")
    async let third = all.exchange("")
    let answers = try await [first, second, third].sorted()
    #expect(answers[0] == "")
    #expect(answers[1].hasPrefix("HTTP/1.1 408") && answers[2].hasPrefix("HTTP/1.1 408"))
    #expect(try await all.refused() == 3)
    // A connection counts until the server has noticed its end.
    while try await all.post(Self.good) != "200" {}
    try await all.stop()
  }

  @Test func `a webhook source whose address is in use reports the problem and ends`() async throws
  {
    let one = try await Fixture()
    try await one.start()
    let port = try await one.port()
    let other = try await Fixture()
    try await other.start(port: port)
    await other.reports.wait { $0.hasPrefix("failed") }
    #expect(other.reports.entries.last?.contains("cannot listen on 127.0.0.1:\(port)") == true)
    try await one.stop()
    try await other.stop()
  }
}
