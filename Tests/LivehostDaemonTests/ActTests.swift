import ControlInterface
import Ingest
import LiveEvents
import LivehostDaemon
import Rooms
import Synchronization
import TestSupport
import Testing
import WireFormats

/// Acts on platforms, from the call to the outcome.
@Suite(.timeLimit(.minutes(1))) struct ActTests {
  private let home = TemporaryDirectory()

  private static let twitch = OfferedActs(
    platform: "twitch", source: "main", kinds: [.say, .delete, .ban])

  private static let unknown = "the outcome is unknown"

  private func delete(_ message: Text = "m1") throws -> LiveEvent.Payload {
    .control(.act(RequestedAct(try PlatformAct(.delete, message: message), by: "bob")))
  }

  private func say(on platform: Text? = nil, source: Text? = nil) throws -> LiveEvent.Payload {
    .control(
      .act(
        RequestedAct(try PlatformAct(.say, text: "hello"), platform: platform, source: source)))
  }

  private func message(_ number: Int, on platform: Text, by source: Text) -> LiveEvent {
    LiveEvent(
      timestamp: 1_000,
      payload: .chat(
        .message(
          ChatMessage(id: "m\(number)", userID: "u\(number)", userName: "Ann", text: "hi"))),
      origin: Origin(platform: platform, source: source))
  }

  private func acts(_ lane: HostLane, _ room: RoomName = .main) async throws -> [PerformedActReport]
  {
    try #require(await lane.report(room)).features.chat?.acts ?? []
  }

  private func effects(_ lane: HostLane, _ room: RoomName) async -> Int? {
    await lane.metrics().first { $0.room == room.description }?.effects
  }

  private func makeStudio(timeOut: Duration = .seconds(3_600)) throws -> Studio {
    var settings = RoomSettings()
    settings.requestTimeout = timeOut
    let studio = try Studio(settings: settings)
    _ = try studio.directory.open(.main)
    return studio
  }

  private func client(_ studio: Studio, _ acts: OfferedActs? = twitch) async -> ControllerClient {
    await ControllerClient(studio.control, studio.lane, controls: [], acts: acts)
  }

  // MARK: Outcomes

  @Test(arguments: [RequestOutcome.confirmed, .sent, .refused(reason: "too old")])
  func `a controller receives an act, and the caller its outcome`(
    outcome: RequestOutcome
  ) async throws {
    let studio = try makeStudio()
    let control = studio.control
    let controller = await client(studio)
    let act = try delete()
    let asked = Task { try await control.act(act, in: "main") }
    let request = try #require(try await controller.next().request)
    #expect(request.kind == .act && request.room == "main" && request.control == nil)
    #expect(request.act == PlatformActReport(kind: .delete, message: "m1"))
    #expect(
      try await acts(studio.lane) == [
        PerformedActReport(
          act: PlatformActReport(kind: .delete, message: "m1"), platform: "twitch", source: "main",
          by: "bob")
      ])
    try await control.reportOutcome(request.identifier, outcome)
    let reply = HostReply(outcome: OutcomeReport(outcome), reason: outcome.reason)
    #expect(try await asked.value == reply)
    #expect(try await acts(studio.lane).map(\.outcome) == [OutcomeReport(outcome)])
    await controller.leave()
    try await studio.end()
  }

  @Test func `an act that nobody answers times out, and a late outcome is refused`() async throws {
    let studio = try makeStudio(timeOut: .milliseconds(20))
    let control = studio.control
    let controller = await client(studio)
    let reply = try await control.act(try delete(), in: "main")
    #expect(reply == HostReply(outcome: .refused, reason: "no answer"))
    let identifier = try #require(try await controller.next().request?.identifier)
    #expect(try await controller.next().withdrawn == identifier)
    await #expect(throws: ControlError.noSuchRequest(identifier)) {
      try await control.reportOutcome(identifier, .confirmed)
    }
    #expect(try await acts(studio.lane).map(\.reason) == ["no answer"])
    await controller.leave()
    try await studio.end()
  }

  @Test func `the outcome of an act is unknown if its controller leaves, and nobody else gets it`()
    async throws
  {
    let studio = try makeStudio()
    let control = studio.control
    let controller = await client(studio)
    let act = try delete()
    let asked = Task { try await control.act(act, in: "main") }
    let request = try #require(try await controller.next().request)
    let next = await client(studio)
    await controller.leave()
    let reason = "\(Self.unknown): the source left"
    #expect(try await asked.value == HostReply(outcome: .refused, reason: reason))
    await #expect(throws: ControlError.noSuchRequest(request.identifier)) {
      try await control.reportOutcome(request.identifier, .confirmed)
    }
    // The first message for the next controller is the next act.
    let later = try delete("m2")
    let second = Task { try await control.act(later, in: "main") }
    let received = try #require(try await next.next().request)
    #expect(received.act?.message == "m2")
    try await control.reportOutcome(received.identifier, .confirmed)
    #expect(try await second.value.outcome == .confirmed)
    await next.leave()
    try await studio.end()
  }

  @Test func `the outcome of an act of an earlier run of the daemon is refused`() async throws {
    let studio = try makeStudio()
    let control = studio.control
    let controller = await client(studio)
    let act = try delete()
    let asked = Task { try await control.act(act, in: "main") }
    let identifier = try #require(try await controller.next().request?.identifier)
    for wrong in ["main/1", "main/1/", "main/1/another", "\(identifier)/"] {
      await #expect(throws: ControlError.noSuchRequest(wrong)) {
        try await control.reportOutcome(wrong, .confirmed)
      }
    }
    try await control.reportOutcome(identifier, .confirmed)
    #expect(try await asked.value.outcome == .confirmed)
    await controller.leave()
    try await studio.end()
  }

  // MARK: Targets

  @Test func `an act on a message goes to the message's platform, and other acts must name one`()
    async throws
  {
    let studio = try makeStudio()
    let control = studio.control
    _ = await studio.send(
      [message(1, on: "twitch", by: "irc"), message(2, on: "owncast", by: "own")], to: .main,
      clock: .event)
    let twitch = await client(studio)
    let owncast = await client(
      studio, OfferedActs(platform: "owncast", source: "own", kinds: [.say, .delete]))
    for (id, controller) in [("m1", twitch), ("m2", owncast)] {
      let act = try delete(Text(id))
      let asked = Task { try await control.act(act, in: "main") }
      let request = try #require(try await controller.next().request)
      #expect(request.act?.message == id)
      try await control.reportOutcome(request.identifier, .sent)
      #expect(try await asked.value.outcome == .sent)
    }
    await #expect(
      throws: ControlError.severalControllers(
        room: "main", act: "say", choices: "twitch/main, owncast/own")
    ) { try await control.act(try say(), in: "main") }
    await #expect(
      throws: ControlError.noController(room: "main", act: "say", platform: "kick")
    ) { try await control.act(try say(on: "kick"), in: "main") }
    let ban = try PlatformAct(.ban, person: Person(id: "u2", name: "Ann"))
    await #expect(
      throws: ControlError.noController(room: "main", act: "ban", platform: "owncast")
    ) { try await control.act(.control(.act(RequestedAct(ban))), in: "main") }
    #expect(try await acts(studio.lane).count == 2)
    await twitch.leave()
    await owncast.leave()
    try await studio.end()
  }

  @Test func `of two sources of one platform, the source of the message acts`() async throws {
    let studio = try makeStudio()
    let control = studio.control
    _ = await studio.send([message(1, on: "twitch", by: "second")], to: .main, clock: .event)
    let first = await client(studio)
    let second = await client(
      studio, OfferedActs(platform: "twitch", source: "second", kinds: [.delete]))
    let act = try delete()
    let asked = Task { try await control.act(act, in: "main") }
    let request = try #require(try await second.next().request)
    try await control.reportOutcome(request.identifier, .confirmed)
    #expect(try await asked.value.outcome == .confirmed)
    // The chat does not know this message, so the source is not known either.
    await #expect(
      throws: ControlError.severalControllers(
        room: "main", act: "delete", choices: "twitch/main, twitch/second")
    ) { try await control.act(try delete("m9"), in: "main") }
    await first.leave()
    await second.leave()
    try await studio.end()
  }

  @Test func `a room without a controller for acts refuses each act`() async throws {
    let studio = try makeStudio()
    let control = studio.control
    let refusal = ControlError.noController(room: "main", act: "delete", platform: nil)
    await #expect(throws: refusal) { try await control.act(try delete(), in: "main") }
    // A controller of all controls carries out no acts.
    let controller = await ControllerClient(control, studio.lane)
    await #expect(throws: refusal) { try await control.act(try delete(), in: "main") }
    await controller.leave()
    await #expect(throws: ControlError.noSuchRoom("none")) {
      try await control.act(try delete(), in: "none")
    }
    try await studio.end()
  }

  @Test func `a room has at most 64 acts without an outcome`() async throws {
    let studio = try makeStudio()
    let control = studio.control
    let controller = await client(studio)
    let act = try delete()
    let asked = (0..<64).map { _ in Task { try await control.act(act, in: "main") } }
    while try await acts(studio.lane).count < 64 { await Task.yield() }
    await #expect(throws: ControlError.limitReached("acts")) {
      try await control.act(act, in: "main")
    }
    await controller.leave()
    for task in asked { #expect(try await task.value.outcome == .refused) }
    #expect(try await acts(studio.lane).count == 16)
    try await studio.end()
  }

  // MARK: Replays and restarts

  @Test(arguments: [FrameClock.event, .arrival])
  func `a replay repeats the outcomes of acts and sends nothing`(clock: FrameClock) async throws {
    let studio = try makeStudio()
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let control = studio.control
    _ = await studio.send([message(1, on: "twitch", by: "irc")], to: .main, clock: clock)
    let controller = await client(studio)
    for outcome in [RequestOutcome.confirmed, .sent, .refused(reason: "too old")] {
      let act = try delete()
      let asked = Task { try await control.act(act, in: "main") }
      let request = try #require(try await controller.next().request)
      try await control.reportOutcome(request.identifier, outcome)
      _ = try await asked.value
    }
    let act = try delete()
    let last = Task { try await control.act(act, in: "main") }
    _ = try await controller.next()
    await controller.leave()
    _ = try await last.value
    let live = try await acts(studio.lane)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(try studio.text(of: recording.recording).contains("\"host.act\""))

    let again = try #require(RoomName("again"))
    _ = try studio.directory.open(again)
    // The recording's controller is not connected to the room that plays the recording.
    let lane = studio.lane
    let asked = Mutex<[Task<Result<HostReply, ControlError>, Never>]>([])
    let replay = try await studio.replay(
      recording.recording, into: again, speed: 1,
      during: { asked.withLock { $0.append(Task { await lane.act(act, in: again) }) } })
    for task in asked.withLock({ $0 }) {
      guard case .failure(.noController(room: "again", act: "delete", _)) = await task.value else {
        Issue.record("An act was accepted while the room plays a recording.")
        continue
      }
    }
    #expect(replay.digest == recording.digest && replay.digest != "")
    #expect(await effects(studio.lane, again) == 0)
    #expect(try await acts(studio.lane, again) == live)
    #expect(live.map(\.outcome) == [.confirmed, .sent, .refused, .refused])
    try await studio.end()
  }

  @Test func `an act without an outcome is not sent again after the daemon was killed`()
    async throws
  {
    for isRecorded in [false, true] {
      let path = "\(home.path)/\(isRecorded)"
      var settings = RoomSettings()
      settings.requestTimeout = .seconds(3_600)
      let first = try KeptRooms(in: path, settings: settings)
      _ = try first.directory.open(.main)
      if isRecorded { _ = try await first.recordings.start(.main, on: first.lane) }
      let began = ControllerEvent.began(controller: 1, controls: [], acts: Self.twitch)
      _ = await first.lane.act(.control(.controller(began)), in: .main)
      let act = try delete()
      let lane = first.lane
      let asked = Task { await lane.act(act, in: .main) }
      while try await acts(lane).isEmpty { await Task.yield() }
      // The answer to another act shows that the log holds both.
      _ = await lane.act(.control(.set(control: "zoom", value: 0.5)), in: .main)
      let copy = try first.kill()
      try await first.end()
      _ = await asked.value

      let second = try KeptRooms(in: copy)
      await second.restore()
      let restored = try await acts(second.lane)
      #expect(restored.map(\.act.message) == ["m1"])
      #expect(restored.map(\.reason) == ["\(Self.unknown): livehostd restarted"])
      #expect(await effects(second.lane, .main) == 0)
      #expect(
        second.acts.all == [
          "delete by bob: refused(reason: \"\(Self.unknown): livehostd restarted\")"
        ])
      // A controller that connects again receives nothing.
      _ = await second.lane.act(.control(.controller(began)), in: .main)
      #expect(await effects(second.lane, .main) == 0)
      #expect(try await acts(second.lane) == restored)
      let last = try second.kill()
      try await second.end()

      let third = try KeptRooms(in: last)
      await third.restore()
      #expect(try await acts(third.lane) == restored)
      #expect(third.acts.all.isEmpty, "the journal has the act already")
      try await third.end()
    }
  }

  @Test func `closing a room ends the calls that wait for the outcome of an act`() async throws {
    let studio = try makeStudio()
    let controller = await client(studio)
    let (lane, act) = (studio.lane, try delete())
    let waiting = Task { await lane.act(act, in: .main) }
    _ = try await controller.next()
    _ = await studio.directory.close(.main)
    #expect(await waiting.value == .failure(.noSuchRoom("main")))
    await controller.leave()
    try await studio.end()
  }
}
