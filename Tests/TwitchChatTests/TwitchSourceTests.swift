import Foundation
import JSON
import LiveEvents
import LiveSources
import NIOCore
import NIOPosix
import NIOSSL
import RateLimiting
import SourceTestSupport
import TestSupport
import Testing
import TwitchChat

/// Tests the source on real sockets, between a scripted Twitch and a scripted daemon.
@Suite(.timeLimit(.minutes(1)))
struct TwitchSourceTests {
  /// A source on its event loop.
  private struct Fixture: Sendable {
    let group: MultiThreadedEventLoopGroup
    let twitch: TestTwitch
    let daemon: TestDaemon
    let reports = Recorded()
    private let loop: any EventLoop
    private let source: NIOLoopBoundBox<(TwitchSource, SourceDelivery)?>

    init(tls: NIOSSLContext? = nil) async throws {
      group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      loop = group.next()
      twitch = try await TestTwitch(group, tls: tls)
      daemon = try await TestDaemon(group)
      source = .makeEmptyBox(eventLoop: loop)
    }

    func start(
      host: String = "127.0.0.1", authority: String? = nil, maximumBytes: Int = 8 << 20,
      account: TwitchSettings.Account? = nil
    ) async throws {
      var settings = TwitchSettings(channels: ["ada"], account: account)
      settings.silence = .milliseconds(300)
      settings.answer = .milliseconds(300)
      settings.join = .milliseconds(500)
      settings.reconnectJitter = .milliseconds(50)
      settings.joinsPerTenSeconds = 1000
      var delivery = SourceDelivery.Settings(
        path: daemon.path, source: "twitch-ada", platform: "twitch")
      delivery.eventPlatform = "twitch"
      delivery.maximumBytes = maximumBytes
      try await loop.submit { [self, settings, delivery] in
        let delivery = SourceDelivery(delivery, session: "test", eventLoop: loop)
        let source = TwitchSource(
          settings, address: PeerAddress(host: host, port: twitch.port),
          security: try authority.map { try PeerSecurity(certificates: $0) }, delivery: delivery,
          eventLoop: loop)
        let reports = reports
        source.events.changed = { reports.append("\($1.state.rawValue) \($1.reason ?? "")") }
        source.events.failed = { reports.append("failed \($0)") }
        delivery.start()
        source.start()
        self.source.value = (source, delivery)
      }.get()
    }

    /// Stops all parts. Received lines are delivered first.
    func stop() async throws {
      let finished = try await loop.submit { [source] in
        source.value?.0.stop()
        return source.value?.1.finish(within: .seconds(5))
      }.get()
      try await finished?.get()
      try await loop.submit { [source] in source.value = nil }.get()
      try await daemon.kill()
      try await twitch.stop()
      try await group.shutdownGracefully()
    }

    func say(_ range: Range<Int>, to number: Int? = nil) async throws {
      for id in range { try await twitch.say("m\(id)", to: number) }
    }
  }

  @Test func `a server that announces its end is replaced without a gap and without repeats`()
    async throws
  {
    let all = try await Fixture()
    try await all.start()
    await all.twitch.wait(for: "0 JOIN")
    try await all.say(0..<10)
    try await all.twitch.send(":tmi.twitch.tv RECONNECT\r\n", to: 0)
    try await all.say(10..<20)
    await all.twitch.wait(for: "1 JOIN")
    // The old and the new connection both send these messages.
    try await all.say(20..<30)
    await all.twitch.wait(for: "0 PING :livehost-drain")
    await all.twitch.wait(for: "0 closed")
    try await all.say(30..<40)
    await all.daemon.wait(forMessage: "m39")
    try await all.stop()
    #expect(all.daemon.messages.sorted() == (0..<40).map { "m\($0)" }.sorted())
    #expect(all.daemon.values(of: "from", type: "gap").isEmpty)
    let states = all.daemon.values(of: "state", type: "source.state").compactMap(\.stringValue)
    #expect(states.last == "ended")
    #expect(states.contains("live"))
  }

  @Test func `an incomplete line and a silent server are each reported as a gap`() async throws {
    let all = try await Fixture()
    try await all.start()
    await all.twitch.wait(for: "0 JOIN")
    try await all.say(0..<10)
    try await all.twitch.send("@id=half :bo!bo@bo PRIVMSG #ada :ha", to: 0)
    try await all.twitch.close(0)
    await all.twitch.wait(for: "1 JOIN")
    try await all.say(10..<20, to: 1)
    await all.daemon.wait(forMessage: "m19")
    try await all.twitch.freeze(1)
    await all.twitch.wait(for: "2 JOIN")
    try await all.say(20..<30, to: 2)
    await all.daemon.wait(forMessage: "m29")
    try await all.stop()
    #expect(all.daemon.messages == (0..<30).map { "m\($0)" })
    let reasons = all.daemon.values(of: "reason", type: "gap").compactMap(\.stringValue)
    #expect(reasons == ["the connection was closed", "no sign of life"])
    let from = all.daemon.values(of: "from", type: "gap").compactMap(\.integerValue)
    let to = all.daemon.values(of: "to", type: "gap").compactMap(\.integerValue)
    // The second gap is at least as long as the silence before it was detected.
    #expect(zip(from, to).allSatisfy { $0 <= $1 })
    #expect(to[1] - from[1] >= 500)
  }

  @Test func `an unanswered join is detected, and a kill of the daemon loses no message`()
    async throws
  {
    let all = try await Fixture()
    var script = ScriptedPeer.Script()
    script.swallowed = ["ada"]
    try await all.twitch.setScript(script)
    try await all.start()
    await all.twitch.wait(for: "0 JOIN")
    try await all.twitch.setScript(ScriptedPeer.Script())
    await all.twitch.wait(for: "1 JOIN")
    await all.reports.wait { $0.hasPrefix("live") }
    try await all.say(0..<10)
    await all.daemon.wait(forMessage: "m9")
    // These messages are applied but not acknowledged, so they are sent again and count once.
    try await all.daemon.stall(true)
    try await all.say(10..<20)
    await all.daemon.wait(forMessage: "m10")
    try await all.daemon.kill()
    try await all.say(20..<30)
    try await all.daemon.stall(false)
    try await all.daemon.start()
    try await all.say(30..<40)
    await all.daemon.wait(forMessage: "m39")
    try await all.stop()
    #expect(all.daemon.messages == (0..<40).map { "m\($0)" })
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `messages sent while connected are counted once, for a seeded schedule of faults`(
    seed: UInt64
  ) async throws {
    enum Step: CaseIterable { case say, repeated, reconnect, close, cut, freeze, swallow }
    var generator = SplitMix64(seed: seed)
    let all = try await Fixture()
    try await all.start()
    await all.twitch.wait(for: "0 JOIN")
    var (current, gaps) = (0, 0)
    var sure: [String] = []
    /// Sends some messages and waits for the last one.
    func say(_ count: Int, times: Int = 1) async throws {
      for _ in 0..<count {
        sure.append("s\(seed)n\(sure.count)")
        for _ in 0..<times { try await all.twitch.say(sure[sure.count - 1]) }
      }
      if let last = sure.last { await all.daemon.wait(forMessage: last) }
    }
    // Three of the faults lose the connection. More lost connections would take too long, because
    // each wait doubles.
    var steps: [Step] = [.say, .say, .repeated, .reconnect, .reconnect]
    steps += [Step.close, .cut, .freeze, .swallow].shuffled(using: &generator).prefix(3)
    try await say(10)
    for step in steps.shuffled(using: &generator) {
      switch step {
      case .say: try await say(.random(in: 20...200, using: &generator))
      case .repeated: try await say(.random(in: 20...50, using: &generator), times: 2)
      case .reconnect:
        try await all.twitch.send(":tmi.twitch.tv RECONNECT\r\n", to: current)
        // While both connections are open, each message is sent on both.
        try await say(20)
        current += 1
        await all.twitch.wait(for: "\(current) JOIN")
        try await say(20)
        await all.twitch.wait(for: "\(current - 1) closed")
      case .close: try await all.twitch.close(current)
      case .cut:
        try await all.twitch.send("@id=cut :bo!bo@bo PRIVMSG #ada :c", to: current)
        try await all.twitch.close(current)
      case .freeze: try await all.twitch.freeze(current)
      case .swallow:
        var script = ScriptedPeer.Script()
        script.swallowed = ["ada"]
        try await all.twitch.setScript(script)
        try await all.twitch.close(current)
        current += 1
        await all.twitch.wait(for: "\(current) JOIN")
        try await all.twitch.setScript(ScriptedPeer.Script())
      }
      guard ![Step.say, .repeated, .reconnect].contains(step) else { continue }
      gaps += 1
      current += 1
      await all.twitch.wait(for: "\(current) JOIN")
      try await say(10)
    }
    #expect(try await all.twitch.faults() == [])
    try await all.stop()
    #expect(all.daemon.messages == sure)
    #expect(all.daemon.values(of: "reason", type: "gap").count == gaps)
  }

  @Test func `a slow daemon slows the server down instead of filling the source's memory`()
    async throws
  {
    let all = try await Fixture()
    try await all.start(maximumBytes: 256 << 10)
    await all.twitch.wait(for: "0 JOIN")
    try await all.daemon.stall(true)
    let padding = String(repeating: "x", count: 500)
    // This is much more than the source may hold. The rest remains in the sockets and in the
    // server.
    let count = 8_000
    for batch in 0..<80 {
      let lines = (0..<100).map {
        "@id=\(batch)-\($0) :bo!bo@bo PRIVMSG #ada :\(padding) :\(batch)-\($0)\r\n"
      }
      try await all.twitch.send(lines.joined(), to: 0)
    }
    await all.daemon.lines.wait { $0.contains("\"state\":\"behind\"") }
    let held = all.daemon.messages.count
    // Nothing is acknowledged, so the source still holds all lines that it has forwarded. One turn
    // may exceed the limit by its reads.
    #expect(held * 560 < (256 << 10) + 5 * (64 << 10))
    try await all.daemon.kill()
    try await all.daemon.stall(false)
    try await all.daemon.start()
    await all.daemon.lines.wait { $0.hasSuffix(" :79-99") }
    try await all.stop()
    // Each connection sends the options with its origin first.
    let options = #"{"type":"options","platform":"twitch","source":"twitch-ada"}"#
    #expect(all.daemon.lines.entries.first == options)
    #expect(all.daemon.lines.entries.count { $0 == options } >= 2)
    #expect(all.daemon.messages.count == count)
    #expect(Set(all.daemon.messages).count == count)
  }

  @Test func `a refused token ends the source and never appears in its output`() async throws {
    let all = try await Fixture()
    var script = ScriptedPeer.Script()
    script.refusesLogin = true
    try await all.twitch.setScript(script)
    try await all.start(account: .init(name: "ada", token: Secret("hunter2")))
    await all.reports.wait { $0.hasPrefix("failed") }
    try await all.stop()
    #expect(all.twitch.heard.entries.filter { $0.contains("PASS oauth:hunter2") }.count == 1)
    #expect(all.reports.entries.contains("failed Login authentication failed"))
    let states = all.daemon.values(of: "state", type: "source.state").compactMap(\.stringValue)
    #expect(states.last == "refused")
    #expect(!(all.reports.entries + all.daemon.lines.entries).contains { $0.contains("hunter2") })
  }

  @Test func `a server with a certificate for its name is accepted`() async throws {
    let authority = try TestCertificates.authorityFile()
    defer { try? FileManager.default.removeItem(atPath: authority) }
    let all = try await Fixture(tls: try TestCertificates.server(isForLocalhost: true))
    try await all.start(host: "localhost", authority: authority)
    await all.reports.wait { $0.hasPrefix("live") }
    try await all.say(0..<3)
    await all.daemon.wait(forMessage: "m2")
    try await all.stop()
    #expect(all.daemon.messages == ["m0", "m1", "m2"])
  }

  @Test func `a certificate for another name is refused`() async throws {
    let authority = try TestCertificates.authorityFile()
    defer { try? FileManager.default.removeItem(atPath: authority) }
    let all = try await Fixture(tls: try TestCertificates.server(isForLocalhost: false))
    try await all.start(
      host: "localhost", authority: authority, account: .init(name: "ada", token: Secret("hunter2"))
    )
    await all.reports.wait { $0.contains("another name") }
    try await all.stop()
    #expect(!all.twitch.heard.entries.contains { $0.contains("PASS") || $0.contains("NICK") })
  }

  @Test func `a certificate from an unknown authority is refused`() async throws {
    let all = try await Fixture(tls: try TestCertificates.server(isForLocalhost: true))
    try await all.start(host: "localhost", authority: "/etc/ssl/certs/ca-certificates.crt")
    await all.reports.wait { $0.hasPrefix("connecting TLS") }
    try await all.stop()
    #expect(!all.twitch.heard.entries.contains { $0.contains("NICK") })
  }
}
