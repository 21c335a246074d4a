import ControlInterface
import LiveEvents
import LiveSources
import NIOCore
import NIOPosix
import SourceTestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RoomRequestsTests {
  /// A source that records its requests, on its event loop.
  private struct Source: Sendable {
    let requests: NIOLoopBound<RoomRequests>
    let loop: any EventLoop
    let log = Recorded()

    init(_ room: ScriptedRoom, on loop: any EventLoop) async throws {
      var settings = RoomRequests.Settings(
        path: room.path, room: .main, platform: "owncast", source: "show")
      settings.overlap = .zero
      let log = log
      self.loop = loop
      requests = try await loop.submit { [settings] in
        let requests = RoomRequests(settings, eventLoop: loop)
        requests.received = { log.append("\($0.kind.rawValue) \($0.identifier)") }
        requests.act = {
          log.append("\($0.act.kind.rawValue) \($0.identifier) \($0.act.text ?? "-")")
        }
        requests.withdrawn = { log.append("withdrawn \($0)") }
        return NIOLoopBound(requests, eventLoop: loop)
      }.get()
    }

    func perform(_ body: @escaping @Sendable (RoomRequests) -> Void) async throws {
      let requests = requests
      try await loop.submit { body(requests.value) }.get()
    }
  }

  private static let hello = PlatformActReport(kind: .say, text: "hello")

  /// Runs `body` with a room and a source.
  private func run(_ body: (ScriptedRoom, Source) async throws -> Void) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await ScriptedRoom.serve { room in
      let source = try await Source(room, on: group.next())
      try await body(room, source)
      try await source.perform { $0.stop() }
    }
    try await group.shutdownGracefully()
  }

  @Test func `a source offers its acts, receives each act once, and reports the outcome`()
    async throws
  {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.say, .delete]) }
      await room.log.wait { $0 == "call 1: [] owncast show say,delete" }
      room.send(Self.hello, "main/1")
      room.send(Self.hello, "main/1")
      room.send(Self.hello, "main/2")
      await source.log.wait { $0 == "say main/2 hello" }
      #expect(source.log.entries == ["say main/1 hello", "say main/2 hello"])
      try await source.perform { $0.report("main/1", .sent) }
      await room.log.wait { $0 == "main/1 sent -" }
      try await source.perform { $0.report("main/2", .confirmed) }
      await room.log.wait { $0 == "main/2 confirmed -" }
    }
  }

  @Test func `requests for controls are handed on as before`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(controls: ["zoom"]) }
      await room.log.wait { $0 == "call 1: [\"zoom\"] owncast show -" }
      room.send(
        MonitorRequestsReply(
          request: RequestReport(
            identifier: "main/1", room: "main", kind: .setControl, control: "zoom", value: 1)))
      room.send(MonitorRequestsReply(withdrawn: "main/1"))
      await source.log.wait { $0 == "withdrawn main/1" }
      #expect(source.log.entries == ["setControl main/1", "withdrawn main/1"])
    }
  }

  @Test func `an act that lacks a member is refused and never reaches the source`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.delete]) }
      await room.log.wait { $0.hasPrefix("call 1:") }
      room.send(PlatformActReport(kind: .delete), "main/1")
      room.send(PlatformActReport(kind: .delete, message: ""), "main/2")
      await room.log.wait { $0 == "main/1 refused the act is incomplete" }
      await room.log.wait { $0 == "main/2 refused the act is incomplete" }
      #expect(source.log.entries.isEmpty)
    }
  }

  @Test func `a source has at most 64 acts without an outcome`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.say]) }
      await room.log.wait { $0.hasPrefix("call 1:") }
      for number in 1...65 { room.send(Self.hello, "main/\(number)") }
      await room.log.wait {
        $0 == "main/65 refused the source has too many acts without an outcome"
      }
      #expect(source.log.entries.count == 64)
    }
  }

  @Test func `the acts of a call that ends are withdrawn`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.say]) }
      await room.log.wait { $0.hasPrefix("call 1:") }
      room.send(Self.hello, "main/1")
      await source.log.wait { $0.hasPrefix("say main/1") }
      room.end(1)
      await source.log.wait { $0 == "withdrawn main/1" }
      await room.log.wait { $0.hasPrefix("call 2:") }
    }
  }

  @Test func `a replaced call stays open until its acts have outcomes`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.say]) }
      await room.log.wait { $0.hasPrefix("call 1:") }
      room.send(Self.hello, "main/1")
      await source.log.wait { $0.hasPrefix("say main/1") }
      try await source.perform { $0.serve(acts: [.say, .delete]) }
      await room.log.wait { $0.hasPrefix("call 2:") }
      room.send(Self.hello, "main/2", on: 2)
      await source.log.wait { $0.hasPrefix("say main/2") }
      try await source.perform { $0.report("main/1", .confirmed) }
      await room.log.wait { $0 == "call 1 ended" }
      let entries = room.log.entries
      let outcome = try #require(entries.firstIndex(of: "main/1 confirmed -"))
      let end = try #require(entries.firstIndex(of: "call 1 ended"))
      #expect(outcome < end)
      // The second call still works.
      room.send(Self.hello, "main/3", on: 2)
      await source.log.wait { $0.hasPrefix("say main/3") }
    }
  }

  @Test func `a source that offers nothing any more is no controller`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.say]) }
      await room.log.wait { $0.hasPrefix("call 1:") }
      try await source.perform { $0.serve() }
      await room.log.wait { $0 == "call 1 ended" }
      try await source.perform { $0.serve(acts: [.delete]) }
      await room.log.wait { $0 == "call 2: [] owncast show delete" }
      #expect(room.log.entries.count == 3)
    }
  }

  @Test func `a long reason is shortened to the limit of the daemon`() async throws {
    try await run { room, source in
      try await source.perform { $0.serve(acts: [.say]) }
      await room.log.wait { $0.hasPrefix("call 1:") }
      let reason = String(repeating: "é", count: 200)
      try await source.perform { $0.report("main/1", .refused(reason: reason)) }
      let kept = String(repeating: "é", count: 128)
      await room.log.wait { $0 == "main/1 refused \(kept)" }
    }
  }
}
