import ControlInterface
import ControlTestSupport
import Testing
import Varlink

extension HangReport {
  static let shortest = HangReport(
    number: 0, timestamp: 1_000, kind: .microhang, reason: .busy, durationMicroseconds: 300_000,
    lane: 0)
  static let full = HangReport(
    number: 0, timestamp: 2_000, kind: .hang, reason: .blocked, durationMicroseconds: 800_000,
    lane: 1, room: "main", action: "stream", view: "HostView", effect: "load",
    processorMicroseconds: 3, waitedMicroseconds: 4)
}

@Suite(.serialized) struct HangTests {
  @Test func `the feed of hangs numbers them, counts them by kind, and returns those since a time`()
  {
    let feed = HangFeed()
    #expect(feed.add(.shortest).number == 1)
    #expect(feed.add(.full).number == 2)
    #expect(feed.counts == (1, 1))
    #expect(feed.hangs(since: 1_001).map(\.number) == [2])
    #expect(feed.hangs().map(\.number) == [1, 2])
    #expect(feed.newest?.number == 2)
  }

  @Test func `the feed of hangs keeps only the newest`() {
    let feed = HangFeed()
    for _ in 0..<HangFeed.capacity + 5 { feed.add(.shortest) }
    #expect(feed.hangs().map(\.number) == Array(6...HangFeed.capacity + 5))
    #expect(feed.counts.microhangs == HangFeed.capacity + 5)
  }

  @Test
  func `a monitor of hangs receives the past hangs and then each new one until the daemon stops`()
    async throws
  {
    let service = FakeService()
    service.hangs.add(.shortest)
    try await withControlServer(service) { path, _ in
      let client = try await ControlClient.connect(path: path)
      var replies = try client.monitorHangs().makeAsyncIterator()
      #expect(try await replies.next()?.hangs.map(\.number) == [1])
      service.hangs.add(.full)
      #expect(try await replies.next()?.hangs.map(\.number) == [2])
      service.hangs.finish()
      #expect(try await replies.next()?.hangs == [])
      #expect(try await replies.next() == nil)
    }
  }

  @Test func `calling MonitorHangs without the flag more gives one reply`() async throws {
    let service = FakeService()
    try await withControlServer(service) { path, _ in
      let client = try await ControlClient.connect(path: path)
      let reply: HangsReply = try await client.client.call(
        "io.livehost.Control.MonitorHangs", NoParameters())
      #expect(reply.hangs == [])
    }
  }

  @Test func `hangs and explanations are returned by the typed client`() async throws {
    let service = FakeService()
    service.hangs.add(.shortest)
    service.hangs.add(.full)
    try await withControlServer(service) { path, _ in
      let client = try await ControlClient.connect(path: path)
      #expect(try await client.listHangs().hangs.count == 2)
      #expect(try await client.listHangs(since: 1_500).hangs.map(\.kind) == [.hang])
      #expect(try await client.explain(room: "main", view: "HostView").evaluations == 3)
      do {
        _ = try await client.explain(room: "main", view: "Other")
        Issue.record("a missing view was explained")
      } catch VarlinkClientError.remote(let error) {
        #expect(ControlError(error) == .noSuchView(room: "main", view: "Other"))
      }
    }
  }
}
