import ControlInterface
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import Recordings
import Rooms
import TestSupport
import Testing
import WireFormats

/// The health of a room's sources, from the lines that report it to the reply of `ListSources`.
@Suite(.timeLimit(.minutes(1))) struct SourceTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }

  private func state(
    _ source: Text, _ state: SourceHealth.Connection, lost: Int = 0
  ) -> LiveEvent {
    LiveEvent(
      timestamp: 1_700_000_000_000,
      payload: .source(.state(SourceHealth(source: source, state: state, lost: lost))))
  }

  private func gap(_ source: Text, _ length: Timestamp) -> LiveEvent {
    LiveEvent(
      timestamp: 1_700_000_000_500,
      payload: .source(.gap(MissedTime(source: source, from: 10, to: 10 + length, reason: "cut"))))
  }

  private func send(
    _ events: [LiveEvent], to lane: HostLane, _ room: RoomName = .main,
    position: BatchPosition? = nil
  ) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      lane.post(
        RoomDelivery(
          room: room, events: events,
          receipt: DeliveryReceipt { _, _ in continuation.resume() }, position: position))
    }
  }

  @Test func `a room's report contains the figures of each source, if there are several`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    func figures(_ payloads: [LiveEvent.Payload], from platform: Text) async {
      await send(
        payloads.map {
          LiveEvent(
            timestamp: 1_700_000_000_000, payload: $0,
            origin: Origin(platform: platform, source: "s"))
        }, to: studio.lane)
    }
    let statistics = LiveEvent.Payload.liveRoomStats(StreamStatistics(bitrateKbps: 5))
    await figures([.header(.viewers(count: 5)), statistics, .stream(.live)], from: "twitch")
    var features = try #require(await studio.lane.report(.main)).features
    let text = String(decoding: try JSONEncoder().encode(features.header), as: UTF8.self)
    for member in ["parts", "category", "omitted"] { #expect(!text.contains(member)) }
    #expect(features.liveRoomStats?.parts == nil)
    await figures(
      [.header(.viewers(count: 7)), .header(.category("Art")), statistics, .stream(.live)],
      from: "kick")
    features = try #require(await studio.lane.report(.main)).features
    #expect(features.header?.viewers == 12 && features.header?.category == "Art")
    #expect(
      features.header?.parts == [
        HeaderPartReport(platform: "twitch", source: "s", viewers: 5, phase: .live, stale: false),
        HeaderPartReport(
          platform: "kick", source: "s", viewers: 7, category: "Art", phase: .live, stale: false),
      ])
    #expect(features.liveRoomStats?.parts?.map(\.platform) == ["twitch", "kick"])
    #expect(features.liveRoomStats?.parts?.map(\.last.bitrateKbps) == [5, 5])
    try await studio.end()
  }

  @Test func `the sources of all rooms are listed with their losses and batch numbers`()
    async throws
  {
    let studio = try Studio()
    let other = try #require(RoomName("other"))
    for room in [RoomName.main, other] { _ = try studio.directory.open(room) }
    await send(
      [state("irc", .live, lost: 2), gap("irc", 2_000), gap("irc", 500)], to: studio.lane,
      position: BatchPosition(source: "irc/run-1", sequence: 9))
    await send([state("obs", .refused)], to: studio.lane, other)
    let all = try await studio.control.listSources(nil)
    #expect(all.map(\.room) == ["main", "other"])
    #expect(all.map(\.source) == ["irc", "obs"])
    #expect(all.map(\.state) == [.live, .refused])
    #expect(all.map(\.position) == [9, nil])
    #expect(all[0].lost == 2 && all[0].gaps == 2 && all[0].gapMs == 2_500)
    #expect(all[0].lastGap?.to == 510)
    #expect(try await studio.control.listSources("other").map(\.source) == ["obs"])
    #expect(try await studio.control.getPositions("main") == ["irc/run-1": 9])
    await #expect(throws: ControlError.noSuchRoom("none")) {
      try await studio.control.listSources("none")
    }
    let report = try #require(await studio.lane.report(.main))
    #expect(report.features.sources?.map(\.source) == ["irc"])
    #expect(report.features.sources?.first?.position == nil)
    try await studio.end()
  }

  @Test func `a source whose last connection closes without an end message counts as ended`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let router = EventRouter(directory: studio.directory)
    func shown() async -> [SourceHealth.Connection?] {
      await studio.lane.report(.main)?.features.sources?.map(\.state) ?? []
    }
    router.sourceConnected("irc", in: .main)
    router.sourceConnected("obs", in: .main)
    await send([state("irc", .live, lost: 5), state("obs", .live)], to: studio.lane)
    // The throttle holds this state of the source, so the source's end must be applied after the
    // state.
    await send([state("irc", .behind, lost: 7)], to: studio.lane)
    // The source opens a new connection before it closes the old one.
    router.sourceConnected("irc", in: .main)
    router.sourceDisconnected("irc", in: .main)
    await send([], to: studio.lane)
    #expect(await shown() == [.behind, .live])
    router.sourceDisconnected("irc", in: .main)
    await send([], to: studio.lane)
    #expect(await shown() == [.ended, .live])
    let report = try #require(await studio.lane.report(.main))
    #expect(report.features.sources?.first?.reason == "its connection ended")
    #expect(report.features.sources?.first?.lost == 7)
    let counters = report.counters
    #expect(
      counters.received == counters.applied + counters.coalesced + counters.rejected
        + counters.pending)
    #expect(counters.received == 3)
    // If a source has reported its own end, the end of its connection adds no report.
    await send([state("obs", .refused)], to: studio.lane)
    router.sourceDisconnected("obs", in: .main)
    await send([], to: studio.lane)
    #expect(await shown() == [.ended, .refused])
    // The source does not return, and its end opens no room.
    router.sourceDisconnected("irc", in: .main)
    try await studio.end()
  }

  @Test func `after a restart, a source counts as ended until it sends again`() async throws {
    let first = try KeptRooms(in: path)
    _ = try first.directory.open(.main)
    await send([state("irc", .live, lost: 3), gap("irc", 1_000)], to: first.lane)
    let copy = try first.kill()
    try await first.end()
    let second = try KeptRooms(in: copy)
    await second.restore()
    var source = await second.lane.report(.main)?.features.sources?.first
    #expect(source?.state == .ended)
    #expect(source?.reason == "livehostd was started again")
    #expect(source?.lost == 3 && source?.gaps == 1)
    await send([state("irc", .live)], to: second.lane)
    source = await second.lane.report(.main)?.features.sources?.first
    #expect(source?.state == .live && source?.gaps == 1)
    try await second.end()
  }

  @Test func `reports of sources and activity are replayed to the same state`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let ann = Person(id: "a", name: "Ann")
    let events: [LiveEvent.Payload] = [
      .activity(.follow(user: ann, id: "f1")), .activity(.follow(user: ann, id: "f1")),
      .activity(.redemption(Redemption(user: ann, title: "Hat", cost: 5, text: "hi", id: "r"))),
      .chat(.notice(ChatNotice(kind: .raid, user: ann, count: 9, id: "n"))),
      .activity(.hypeTrain(HypeTrain(phase: .begin, level: 1, progress: 1, goal: 9))),
      .activity(.hypeTrain(HypeTrain(phase: .progress, level: 1, progress: 4, goal: 9))),
      .activity(.goal(Goal(title: "followers", count: 1, target: 9))),
      .activity(.goal(Goal(title: "followers", count: 2, target: 9))),
      .activity(
        .prediction(Prediction(id: "p", title: "Who?", state: .open, options: ["a", "b"]))),
      .activity(.announcement(Announcement(user: ann, text: "Soon", id: "x"))),
      .activity(.handle(number: 1, .pin)),
      .source(.state(SourceHealth(source: "irc", state: .live))),
      .source(.gap(MissedTime(source: "irc", from: 1, to: 5, reason: "cut"))),
    ]
    await send(
      events.enumerated().map {
        LiveEvent(timestamp: 1_700_000_000_000 + Timestamp($0), payload: $1)
      }, to: studio.lane, position: BatchPosition(source: "irc", sequence: 1))
    let live = try #require(await studio.lane.report(.main))
    #expect(live.rejectedByReason == ["duplicate": 1])
    #expect(
      live.features.activity?.rows.map(\.kind) == ["follow", "announcement", "raid", "redemption"])
    #expect(live.features.activity?.hypeTrain?.progress == 4)
    #expect(live.features.activity?.goals.map(\.count) == [2])
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let room = try #require(RoomName("copy"))
    let result = try await studio.replay(recording.recording, into: room)
    #expect(result.digest == recording.digest)
    let copy = try #require(await studio.lane.report(room))
    #expect(copy.features.activity == live.features.activity)
    #expect(copy.features.sources?.map(\.gaps) == [1])
    try await studio.end()
  }

  private let mixed: [LiveEvent] = {
    let (twitch, kick) = (
      Origin(platform: "twitch", source: "main"), Origin(platform: "kick", source: "ninja")
    )
    let ann = Person(id: "a", name: "Ann")
    let events: [(LiveEvent.Payload, Origin)] = [
      (.activity(.follow(user: ann, id: "f1")), kick),
      (.chat(.notice(ChatNotice(kind: .raid, user: ann, count: 9, id: "n"))), twitch),
      (.chat(.message(ChatMessage(id: "1", userID: "a", userName: "Ann", text: "hi"))), twitch),
      (.chat(.message(ChatMessage(id: "2", userID: "b", userName: "Bob", text: "hi"))), kick),
      (.chat(.message(ChatMessage(id: "3", userID: "b", userName: "Bob", text: "hi"))), .none),
      (.source(.state(SourceHealth(source: "main", state: .live, platform: "twitch"))), .none),
    ]
    return events.enumerated().map {
      LiveEvent(
        timestamp: 1_700_000_000_000 + Timestamp($0), payload: $1.0, origin: $1.1)
    }
  }()

  @Test func `the origin of messages and activity is shown, filtered, recorded and replayed`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    await send(mixed, to: studio.lane)
    let filter = MessageFilter(platform: "kick")
    #expect(try await studio.lane.act(.chat(.filter(filter)), in: .main).get().passing == 1)
    let live = try #require(await studio.lane.report(.main))
    #expect(live.features.chat?.messages.map(\.platform) == ["twitch", "kick", nil])
    #expect(live.features.chat?.messages.map(\.source) == ["main", "ninja", nil])
    #expect(live.features.chat?.filter?.platform == "kick")
    #expect(live.features.chat?.filtered?.map(\.id) == ["2"])
    #expect(live.features.activity?.rows.map(\.platform) == ["twitch", "kick"])
    #expect(live.features.activity?.rows.map(\.source) == ["main", "ninja"])
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let lines = try studio.text(of: recording.recording)
    #expect(lines.contains(#""platform":"kick","source":"ninja""#))
    let room = try #require(RoomName("copy"))
    let result = try await studio.replay(recording.recording, into: room)
    #expect(result.digest == recording.digest)
    let copy = try #require(await studio.lane.report(room))
    #expect(copy.features.chat?.messages == live.features.chat?.messages)
    #expect(copy.features.chat?.filtered == live.features.chat?.filtered)
    #expect(copy.features.activity == live.features.activity)
    try await studio.end()
  }

  @Test func `messages and activity keep their origin after a crash`() async throws {
    let first = try KeptRooms(in: path)
    _ = try first.directory.open(.main)
    await send(mixed, to: first.lane)
    let before = try #require(await first.lane.report(.main))
    #expect(before.features.chat?.messages.map(\.platform) == ["twitch", "kick", nil])
    let copy = try first.kill()
    try await first.end()
    let second = try KeptRooms(in: copy)
    await second.restore()
    let after = try #require(await second.lane.report(.main))
    #expect(after.features.chat?.messages == before.features.chat?.messages)
    #expect(after.features.activity == before.features.activity)
    try await second.end()
  }
}
