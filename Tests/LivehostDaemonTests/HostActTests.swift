import ControlInterface
import Ingest
import LiveEvents
import Recordings
import Rooms
import Testing
import WireFormats

/// Host actions by calls: they are applied immediately, shown, recorded and replayed.
@Suite struct HostActTests {
  private let ann = Person(id: "u1", name: "Ann")
  private let bob = Person(id: "u2", name: "Bob")

  private func event(_ payload: LiveEvent.Payload, at time: Timestamp = 1_000) -> LiveEvent {
    LiveEvent(timestamp: time, payload: payload)
  }

  private func message(_ id: Int, _ text: String, answering: String = "") -> LiveEvent.Payload {
    .chat(
      .message(
        ChatMessage(id: "m\(id)", userID: "u1", userName: "Ann", text: text, replyTo: answering)))
  }

  /// A room with waiting viewers, chat messages and gifts.
  private var lively: [LiveEvent] {
    [
      event(.waitingRoom(.join(ann))), event(.waitingRoom(.join(bob))),
      event(message(1, "hello @bob")),
      event(message(2, "hi", answering: "m1")), event(message(3, "bye")),
      event(.chat(.notice(ChatNotice(kind: .raid, user: bob, count: 7)))),
      event(.chat(.notice(ChatNotice(kind: .cheer, user: ann, count: 9)))),
    ]
  }

  private static let acts: [LiveEvent.Payload] = [
    .waitingRoom(.admit(.next)), .waitingRoom(.admit(.person("u2"))), .waitingRoom(.admit(.all)),
    .chat(.filter(MessageFilter(words: "HELLO"))), .chat(.highlight(names: ["Bob"])),
    .chat(.scroll(.back)),
    .chat(.openThread(messageID: "m2")), .chat(.handleNotice(number: 1, .pin)),
    .chat(.handleNotice(number: 2, .dismiss)),
    .chat(.openPerson(PersonReference(id: "u1"))), .chat(.notePerson(note)),
  ]

  private static var note: PersonNote {
    guard let note = PersonNote(about: PersonReference(id: "u1"), "asks for songs") else {
      preconditionFailure("an example of a note is not possible")
    }
    return note
  }

  @Test(arguments: acts, [FrameClock.event, .arrival])
  func `host actions change the screen, and a replay repeats these changes`(
    act: LiveEvent.Payload, clock: FrameClock
  ) async throws {
    let studio = try Studio()
    let other = try #require(RoomName("other"))
    var digests: [String] = []
    for room in [RoomName.main, other] {
      _ = try studio.directory.open(room)
      _ = try await studio.recordings.start(room, on: studio.lane)
      _ = await studio.send(lively, to: room, clock: clock)
      // In the other room there is no host action.
      if room == .main { _ = try await studio.lane.act(act, in: room).get() }
      let later = event(message(4, "hello again"), at: 2_000)
      _ = await studio.send([later], to: room, clock: clock)
      let recording = try await studio.recordings.stop(room, on: studio.lane)
      let digest = try #require(recording.digest)
      digests.append(digest)
      let again = try #require(RoomName("\(room).again"))
      let replay = try await studio.replay(recording.recording, into: again)
      #expect(replay.digest == digest)
    }
    #expect(digests[0] != digests[1], "the digest covers \(act)")
    try await studio.end()
  }

  @Test func `a replay sets controls to the recorded values again`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send([event(.header(.viewers(count: 3)))], to: .main, clock: .event)
    _ = await studio.lane.act(.control(.set(control: "zoom", value: 0.25)), in: .main)
    _ = await studio.lane.act(.control(.tap(control: "camera", on: nil)), in: .main)
    let live = try #require(await studio.lane.report(.main))
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let room = try #require(RoomName("again"))
    #expect(try await studio.replay(recording.recording, into: room).digest == recording.digest)
    let report = try #require(await studio.lane.report(room))
    #expect(report.features.control == live.features.control)
    #expect(report.features.control?.values == ["zoom": 0.25])
    #expect(report.features.control?.switches == ["camera": true])
    try await studio.end()
  }

  @Test func `host actions by calls do not count as events, and the calls return the outcomes`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = await studio.send(lively, to: .main, clock: .event)
    func act(_ act: LiveEvent.Payload) async throws -> HostReply {
      try await studio.lane.act(act, in: .main).get()
    }
    #expect(try await act(.chat(.filter(MessageFilter(words: "hello")))).passing == 1)
    #expect(try await act(.chat(.filter(MessageFilter()))).passing == 3)
    #expect(try await act(.chat(.highlight(names: ["bob"]))).mentions == 1)
    #expect(try await act(.chat(.openThread(messageID: "m2"))).messages?.map(\.id) == ["m1", "m2"])
    #expect(try await act(.chat(.openThread(messageID: nil))).messages == [])
    #expect(try await act(.chat(.notePerson(Self.note))) == HostReply())
    let card = try await act(.chat(.openPerson(PersonReference(id: "u1")))).person
    #expect(card?.user.name == "Ann" && card?.note == "asks for songs")
    #expect(card?.messages == 3 && card?.newest.map(\.id) == ["m1", "m2", "m3"])
    #expect(try await act(.chat(.scroll(.back))).unread == 0)
    _ = await studio.send([event(message(4, "new"))], to: .main, clock: .event)
    #expect(try await act(.chat(.scroll(.back))).unread == 1)
    #expect(try await act(.chat(.scroll(.end))).unread == 0)
    #expect(try await act(.chat(.handleNotice(number: 1, .pin))) == HostReply())
    let people = try await act(.waitingRoom(.admit(.next)))
    #expect(people.people?.map(\.name) == ["Ann"])
    #expect(people.waiting == 1 && people.admitted == 1)
    let report = try #require(await studio.lane.report(.main))
    #expect(report.counters.received == 8)
    #expect(report.counters.received == report.counters.applied)
    #expect(report.features.chat?.noticeQueue?.map(\.pinned) == [true, false])
    #expect(report.features.chat?.person?.newest.map(\.id) == ["m1", "m2", "m3", "m4"])
    #expect(try await act(.chat(.openPerson(nil))) == HostReply())
    #expect(report.features.waitingRoom?.people?.map(\.id) == ["u2"])
    try await studio.end()
  }

  @Test func `an impossible host action is refused with a reason and changes nothing`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    func refusal(_ act: LiveEvent.Payload) async -> ControlError? {
      if case .failure(let error) = await studio.lane.act(act, in: .main) { error } else { nil }
    }
    let admit = LiveEvent.Payload.waitingRoom(.admit(.next))
    #expect(await refusal(admit) == .nobodyWaits(room: "main", user: nil))
    #expect(
      await refusal(.waitingRoom(.admit(.all))) == nil,
      "admitting all succeeds with an empty waiting room")
    #expect(
      await refusal(.chat(.openThread(messageID: "m1")))
        == .noSuchMessage(room: "main", message: "m1"))
    #expect(
      await refusal(.chat(.handleNotice(number: 1, .pin))) == .noSuchNotice(room: "main", notice: 1)
    )
    #expect(await refusal(.chat(.openPerson(nil))) == nil, "Nothing is closed.")
    #expect(await studio.lane.report(.main)?.features.waitingRoom == nil)
    #expect(await studio.lane.report(.main)?.features.chat == nil)

    _ = await studio.send(lively + [event(.waitingRoom(.capacity(1)))], to: .main, clock: .event)
    let stranger = LiveEvent.Payload.waitingRoom(.admit(.person("u9")))
    #expect(await refusal(stranger) == .nobodyWaits(room: "main", user: "u9"))
    #expect(await refusal(admit) == nil)
    for full in [admit, .waitingRoom(.admit(.person("u2"))), .waitingRoom(.admit(.all))] {
      #expect(await refusal(full) == .roomFull(room: "main", capacity: 1))
    }
    #expect(
      await refusal(.chat(.openThread(messageID: "m9")))
        == .noSuchMessage(room: "main", message: "m9"))
    let raids = (0..<20).map { _ in
      event(.chat(.notice(ChatNotice(kind: .raid, user: bob, count: 1))))
    }
    _ = await studio.send(raids, to: .main, clock: .event)
    for number in 1...16 {
      #expect(await refusal(.chat(.handleNotice(number: number, .pin))) == nil)
    }
    #expect(
      await refusal(.chat(.handleNotice(number: 17, .pin))) == .limitReached("pinned notices"))
    func pin(row number: Int) async -> ControlError? {
      await refusal(.activity(.handle(number: number, .pin)))
    }
    #expect(await pin(row: 1) == .noSuchActivity(room: "main", activity: 1))
    let follows = (0..<9).map {
      // The follows are so far apart that they are not combined into one row.
      event(.activity(.follow(user: bob, id: nil)), at: 100_000 + Timestamp($0) * 20_000)
    }
    _ = await studio.send(follows, to: .main, clock: .event)
    let rows = try #require(await studio.lane.report(.main)?.features.activity?.rows)
    #expect(rows.count >= 9)
    for row in rows.prefix(8) { #expect(await pin(row: row.number) == nil) }
    #expect(
      await pin(row: rows[8].number) == .limitReached("pinned rows of the activity feed"))
    #expect(await refusal(.activity(.handle(number: rows[0].number, .dismiss))) == nil)
    #expect(
      await pin(row: rows[0].number)
        == .noSuchActivity(room: "main", activity: rows[0].number))
    let pinned = await studio.lane.report(.main)?.features.activity?.rows.filter(\.pinned)
    #expect(pinned?.map(\.number) == rows.dropFirst().prefix(7).map(\.number))
    let none = await studio.lane.act(admit, in: try #require(RoomName("none")))
    #expect(none == .failure(.noSuchRoom("none")))
    try await studio.end()
  }

  /// A stream with time stamps of another year: host actions by calls use the time of the stream.
  @Test func `a host action does not advance the clock of a room that follows its events`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let start: Timestamp = 1_000_000
    _ = await studio.send(
      [
        event(.waitingRoom(.schedule(startsAt: start + 60_000)), at: start),
        event(.waitingRoom(.join(ann)), at: start + 1_000),
      ], to: .main, clock: .event)
    _ = try await studio.lane.act(.waitingRoom(.admit(.all)), in: .main).get()
    _ = await studio.send(
      [event(.waitingRoom(.join(bob)), at: start + 20_000)], to: .main, clock: .event)
    // The last tick was less than a second ago.
    let left = await studio.lane.report(.main)?.features.waitingRoom?.secondsLeft
    #expect(left == 40 || left == 41)
    try await studio.end()
  }

  @Test func `a stream is driven by calls from the waiting room to the export of its recording`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    func send(_ events: LiveEvent...) async {
      #expect(await studio.send(events, to: .main, clock: .event) == 0)
    }
    func act(_ act: LiveEvent.Payload) async throws {
      _ = try await studio.lane.act(act, in: .main).get()
    }
    func report() async throws -> RoomReport { try #require(await studio.lane.report(.main)) }

    // Viewers wait, a countdown runs, and two viewers are admitted.
    await send(
      event(.stream(.waiting), at: 0), event(.waitingRoom(.schedule(startsAt: 10_000)), at: 0))
    await send(event(.waitingRoom(.capacity(2)), at: 500), event(.waitingRoom(.join(ann)), at: 600))
    await send(event(.waitingRoom(.join(bob)), at: 3_000))
    #expect(try await report().features.waitingRoom?.secondsLeft == 8)
    try await act(.waitingRoom(.admit(.all)))
    #expect(try await report().features.waitingRoom?.admitted == 2)
    _ = await studio.lane.act(.control(.set(control: "microphone", value: 0.8)), in: .main)

    // Live: chat, a gift bomb that is announced after its gifts, likes, poor statistics, and a
    // drag.
    await send(event(.stream(.live), at: 10_000), event(.header(.title("Evening")), at: 10_100))
    await send(
      event(message(1, "hello @host"), at: 11_000), event(.header(.viewers(count: 90)), at: 11_000))
    try await act(.chat(.highlight(names: ["host"])))
    let gift = ChatNotice(kind: .gift, user: bob, count: 1, group: "bomb")
    for time in 0..<3 { await send(event(.chat(.notice(gift)), at: 12_000 + Timestamp(time))) }
    let bomb = ChatNotice(kind: .giftBomb, user: bob, count: 4, group: "bomb")
    await send(event(.chat(.notice(bomb)), at: 14_000))
    await send(event(.header(.reaction(kind: "heart", count: 12)), at: 14_100))
    await send(event(.liveRoomStats(StreamStatistics(congestion: 0.9)), at: 15_000))
    for (index, phase) in Slider.Phase.allCases.enumerated() {
      let slider = Slider(control: "zoom", phase: phase, value: Double(index) / 2)
      await send(event(.control(.slider(slider)), at: 16_000 + Timestamp(index)))
    }
    try await act(.chat(.handleNotice(number: 1, .pin)))
    let live = try await report()
    #expect(live.phase == .live && live.features.waitingRoom == nil)
    #expect(live.features.chat?.noticeQueue?.map(\.count) == [4])
    #expect(live.features.chat?.messages.map(\.mention) == [true])
    #expect(live.features.header?.likes == 12 && live.features.header?.peakViewers == 90)
    #expect(live.features.control?.values == ["microphone": 0.8, "zoom": 1])

    // The host ends the stream and confirms the dialog.
    _ = await studio.lane.act(.control(.tap(control: "endStream", on: true)), in: .main)
    _ = await studio.lane.act(.control(.tap(control: "endStream", on: true)), in: .main)
    let ended = try await report()
    #expect(ended.phase == .ended && ended.features.liveRoomStats == nil)

    // A replay of the recording produces the same room, and its export lists the events.
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let again = try #require(RoomName("again"))
    #expect(try await studio.replay(recording.recording, into: again).digest == recording.digest)
    let lines = try await export(studio, recording.recording)
    #expect(lines.count == recording.events)
    #expect(lines.contains { $0.contains(#""type":"host.admit""#) && $0.contains(#""all":true"#) })
    let copy = try #require(RoomName("copy"))
    let sent = lines.map { line -> LiveEvent? in
      var decoder = LineDecoder()
      let slab = ByteSlab(Array(line.utf8))
      let slice = ByteSlab.Slice(offset: 0, count: line.utf8.count)
      guard case .event(let event, _) = decoder.decode(slab, line: slice, arrival: 0) else {
        return nil
      }
      return event
    }
    #expect(sent.allSatisfy { $0 != nil }, "each line of an export can be ingested")
    _ = try studio.directory.open(copy)
    #expect(await studio.send(sent.compactMap { $0 }, to: copy, clock: .event) == 0)
    let copied = try #require(await studio.lane.report(copy))
    #expect(copied.phase == ended.phase)
    #expect(copied.features.chat?.untimed == ended.features.chat?.untimed)
    #expect(copied.features.control == ended.features.control)
    // The duration is only as exact as the ticks, which the exported lines do not contain.
    var header = copied.features.header
    header?.durationMs = ended.features.header?.durationMs ?? 0
    #expect(header == ended.features.header)
    try await studio.end()
  }

  private func export(_ studio: Studio, _ recording: String) async throws -> [String] {
    var lines = RecordingLines(try await studio.library.files(of: recording))
    var texts: [String] = []
    while let block = try lines.next() {
      texts += block.text.split(separator: "\n").map { String($0) }
    }
    return texts
  }
}
