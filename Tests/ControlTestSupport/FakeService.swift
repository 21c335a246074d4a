package import ControlInterface
package import JSON
package import LiveEvents
package import Prometheus
package import Synchronization

/// A fake daemon with one room, `main`. The fake daemon returns fixed answers and records the
/// calls.
///
/// All tests above the daemon share it, so a new method of the interface needs one fake
/// implementation.
package final class FakeService: ControlService {
  /// The feeds for the monitors of the room and of its screen.
  package let feed: RoomFeed
  /// The screen of `main`.
  package let screens: RoomFeed
  package let hangs = HangFeed()
  /// The calls that made changes.
  package let log = Mutex<[String]>([])
  package let startedTasks = Mutex<[StartTaskRequest]>([])
  /// The requested acts on platforms.
  package let acts = Mutex<[RequestedAct]>([])
  private let state: State
  private let recording = Mutex<Set<String>>([])
  private let opened = Mutex<Set<String>>(["main"])

  /// The state of `main`, and the features that monitors read.
  private final class State: Sendable {
    let report: Mutex<RoomReport>
    let screen = Mutex(ScreenReport.full)
    let reads = Mutex<[Set<Feature>?]>([])

    init(_ report: RoomReport) { self.report = Mutex(report) }

    @Sendable func reading(_ features: Set<Feature>?) -> RoomFeed.Reading {
      reads.withLock { $0.append(features) }
      let report = report.withLock { $0.keeping(features) }
      return { try JSONValue(encoding: report) }
    }

    func screenReading() -> RoomFeed.Reading {
      let screen = screen.withLock { $0 }
      return { try JSONValue(encoding: screen) }
    }
  }

  /// - Parameters:
  ///   - report: the state of `main`.
  ///   - feed: the feed for monitors; nil for the report.
  package init(report: RoomReport = .full, feed: RoomFeed? = nil) {
    let state = State(report)
    self.state = state
    self.feed =
      feed
      ?? RoomFeed(visit: state.reading)
    screens = RoomFeed { _ in state.screenReading() }
  }

  /// Changes the state of `main`, like a frame.
  package func show(_ report: RoomReport) {
    state.report.withLock { $0 = report }
    feed.markStale(state.reading)
  }

  /// Changes the screen of `main`, like a frame.
  package func showScreen(_ screen: ScreenReport) {
    state.screen.withLock { $0 = screen }
    screens.markStale { _ in state.screenReading() }
  }

  /// The names of the features that monitors read, one element per read of the room.
  package var reads: [Set<Feature>?] { state.reads.withLock { $0 } }

  /// A room with little content, including a message that tries to control the terminal.
  package static let room = RoomReport(
    room: "main", phase: .live,
    features: FeatureReports(
      chat: ChatReport(
        total: 2, chatters: 1, rate: 0.5,
        messages: [
          ChatMessageReport(
            id: "1", user: UserReport(id: "u", name: "ann"), text: "hi\u{1B}[2J", timestamp: 1)
        ], moderations: 3, notices: 4, busiestSecond: BusiestSecond(byClock: 5, sliding: 6)),
      control: ControlReport(), header: HeaderReport(), recorder: RecorderReport(state: .idle)),
    counters: Counters(received: 9, applied: 6, coalesced: 2, rejected: 1), actions: 7, frames: 8,
    views: ["HostView": ViewReport(evaluations: 3)])

  private func record(_ text: String) { log.withLock { $0.append(text) } }

  package func getStatus() async throws -> StatusReport {
    StatusReport(
      version: "9.9", uptimeSeconds: 3_723, rooms: 1, eventsPerSecond: 12.34,
      totals: .init(.init(received: 2, applied: 1, rejected: 1), rejectedByReason: ["x": 1]),
      health: .ok, longestTurnMicroseconds: 1_250, memoryBytes: 3 << 20, journalEntriesLost: 0,
      lanes: 2, microhangs: 0, hangs: 0, logLevel: "info", longestSliceMicroseconds: 0)
  }

  package func getMetrics() async throws -> [MetricFamily] {
    var rooms = MetricFamily("livehost_rooms", .gauge, help: "Open rooms.")
    rooms.add(1)
    return [rooms]
  }

  package func listRooms() async throws -> [RoomSummary] {
    [
      RoomSummary(
        room: "main", phase: .live, viewers: 1_234, counters: state.report.withLock { $0.counters })
    ]
  }

  package func openRoom(_ room: String) async throws {
    guard opened.withLock({ $0.insert(room).inserted }) else { throw ControlError.roomExists(room) }
    record("open \(room)")
  }

  package func closeRoom(_ room: String) async throws {
    guard opened.withLock({ $0.remove(room) }) != nil else { throw ControlError.noSuchRoom(room) }
    feed.finish(.noSuchRoom(room), state.reading)
    screens.finish(.noSuchRoom(room))
    record("close \(room)")
  }

  package func getRoom(
    _ room: String, features: Set<Feature>? = nil
  ) async throws -> RoomReport {
    guard room == "main" else { throw ControlError.noSuchRoom(room) }
    return state.report.withLock { $0.keeping(features) }
  }

  package func roomFeed(_ room: String) async throws -> RoomFeed {
    _ = try await getRoom(room)
    return feed
  }

  package func screenFeed(_ room: String) async throws -> RoomFeed {
    _ = try await getRoom(room)
    return screens
  }

  package func simulate(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply {
    if request.scenario == "bad" {
      throw ControlError.invalidScenario(
        file: request.path, line: 3, key: "seed", message: "is not a number")
    }
    for percent in [0, 50] { progress(percent) }
    var reply = SimulateReply(percent: 100)
    reply.report = ["digest": "d"]
    reply.lines = ["a table"]
    reply.missed = request.thresholds
    return reply
  }

  package func listSources(_ room: String?) async throws -> [SourceReport] {
    if let room, !opened.withLock({ $0.contains(room) }) { throw ControlError.noSuchRoom(room) }
    return [
      SourceReport(
        room: "main", source: "twitch-main", state: .behind, platform: "twitch",
        reason: "the server is slow", behindMs: 2_500, lost: 3, backfilled: 40, duplicate: 5,
        gaps: 2, gapMs: 14_000,
        lastGap: GapReport(from: 1_000, to: 13_000, reason: "connection lost"),
        timestamp: 20_000, position: 17),
      SourceReport(
        room: "main", source: "obs", state: .refused, reason: "wrong password\u{1B}[2J",
        lost: 0, backfilled: 0, duplicate: 0, gaps: 0, gapMs: 0, timestamp: 21_000),
    ]
  }

  package func getPositions(_ room: String) async throws -> [String: Int] {
    guard opened.withLock({ $0.contains(room) }) else { throw ControlError.noSuchRoom(room) }
    return ["twitch-main": 17]
  }

  package func explain(room: String, view: String) async throws -> Explanation {
    _ = try await getRoom(room)
    guard view == "HostView" else { throw ControlError.noSuchView(room: room, view: view) }
    return Explanation(
      view: view, evaluations: 3, avoidable: 1, meanMicroseconds: 12.5, maximumMicroseconds: 20,
      reads: ["isRecording", "phase"],
      causes: [
        .init(kind: .ownRead, action: "stream", field: "phase", count: 2),
        .init(kind: .firstAppearance, action: nil, field: nil, count: 1),
      ],
      recent: [
        .init(
          frame: 9, durationMicroseconds: 10.2, selfMicroseconds: 4, avoidable: true,
          causes: [.init(kind: .ownRead, action: "stream", field: "phase", count: 1)])
      ])
  }

  package func act(_ act: LiveEvent.Payload, in room: String) async throws -> HostReply {
    let report = try await getRoom(room)
    record("\(act)")
    switch act {
    case .control(let event): return try reply(to: event)
    case .chat(let event): return try reply(to: event, report)
    case .waitingRoom(.admit(let admission)): return try reply(to: admission, report)
    case .activity(.handle(number: 99, _)):
      throw ControlError.noSuchActivity(room: report.room, activity: 99)
    case .activity, .waitingRoom, .header, .liveRoomStats, .poll, .recorder, .source, .stream:
      return HostReply()
    }
  }

  package func message(
    numbered number: Int, in room: String
  ) async throws -> FoundMessage {
    guard number == 7 else { throw ControlError.noSuchMessage(room: room, message: "\(number)") }
    return FoundMessage(
      identifier: "m7", author: Person(id: "u7", name: "Ann"), platform: "twitch")
  }

  private func reply(to request: RequestedAct) throws(ControlError) -> HostReply {
    acts.withLock { $0.append(request) }
    switch (request.act.kind, request.platform) {
    case (_, "kick"): return HostReply(outcome: .confirmed)
    case (.shoutOut, let platform):
      throw .noController(
        room: "main", act: request.act.kind.rawValue, platform: platform.map { String($0) })
    case (.say, nil):
      throw .severalControllers(room: "main", act: "say", choices: "twitch, owncast")
    case (.ban, _): return HostReply(outcome: .refused, reason: "no answer")
    case (_, "social-stream"): return HostReply(outcome: .sent)
    default: return HostReply(outcome: .confirmed)
    }
  }

  private func reply(to event: ControlEvent) throws(ControlError) -> HostReply {
    switch event {
    case .set(control: "one too many", _), .tap(control: "one too many", _):
      throw .limitReached("controls")
    case .set(control: "locked", _):
      return HostReply(value: 0.25, outcome: .refused, reason: "no answer")
    case .set(_, let value): return HostReply(value: value)
    case .tap(_, let on): return HostReply(on: on ?? true)
    case .record(.pause): return HostReply(outcome: .refused, reason: "not now")
    case .record: return HostReply(outcome: .confirmed)
    case .act(let request): return try reply(to: request)
    case .slider, .meter, .state, .controller, .outcome: return HostReply()
    }
  }

  private func reply(to event: ChatEvent, _ report: RoomReport) throws(ControlError) -> HostReply {
    switch event {
    case .filter(let filter): return HostReply(passing: filter == MessageFilter() ? 9 : 1)
    case .highlight(let names): return HostReply(mentions: names.count)
    case .scroll(let position): return HostReply(unread: position == .back ? 5 : 0)
    case .openThread(messageID: "none"?):
      throw .noSuchMessage(room: report.room, message: "none")
    case .openThread(let message):
      return HostReply(messages: message == nil ? [] : report.features.chat?.messages)
    case .openPerson(nil): return HostReply()
    case .openPerson(let person?):
      return HostReply(
        person: PersonCardReport(
          user: UserReport(id: String(person.id), name: "Ann"),
          platform: person.platform.map { String($0) }, messages: 3, newest: [], moderations: []))
    case .handleNotice(3, _): return HostReply()
    case .handleNotice(let number, _): throw .noSuchNotice(room: report.room, notice: number)
    case .message, .delete, .clear, .timeout, .notice, .modes, .notePerson, .findings:
      return HostReply()
    }
  }

  private func reply(
    to admission: Admission, _ report: RoomReport
  ) throws(ControlError) -> HostReply {
    switch admission {
    case .person("full"): throw .roomFull(room: report.room, capacity: 3)
    case .person(let user) where user != "u":
      throw .nobodyWaits(room: report.room, user: String(user))
    case .next where report.features.waitingRoom == nil:
      throw .nobodyWaits(room: report.room, user: nil)
    case .next, .all, .person:
      return HostReply(
        people: [UserReport(id: "u1", name: "an\u{1B}n"), UserReport(id: "u2", name: "bob")],
        waiting: 1_000, admitted: 2)
    }
  }

  package func monitorRequests(
    _ room: String, controls: [Text]?, acts: OfferedActs?,
    reply: @escaping @Sendable (MonitorRequestsReply) async throws -> Void
  ) async throws -> MonitorRequestsReply {
    guard room == "main" else { throw ControlError.noSuchRoom(room) }
    try await reply(
      MonitorRequestsReply(
        request: RequestReport(
          identifier: "main/1", room: room, kind: .setControl, control: "zoom", value: 0.5)))
    return MonitorRequestsReply(withdrawn: "main/1")
  }

  package func reportOutcome(_ identifier: String, _ outcome: RequestOutcome) async throws {
    guard identifier == "main/1" else { throw ControlError.noSuchRequest(identifier) }
  }

  package func verifyRecordings(
    _ recording: String?, room: String?,
    reply: @escaping @Sendable (VerifyRecordingsReply) async throws -> Void
  ) async throws {
    if let recording, recording != "main-1" { throw ControlError.noSuchRecording(recording) }
    try await reply(VerifyRecordingsReply(percent: 50))
    let isAll = recording == nil && room == nil
    try await reply(
      VerifyRecordingsReply(
        percent: 50,
        checked: RecordingCheckReport(
          recording: "main-1", room: "main", bytes: 2_048, lines: 12, records: 9,
          damage: isAll ? "segment 1 has been altered or is incomplete" : nil)))
  }
  package func startTask(
    _ request: StartTaskRequest, reply: @escaping @Sendable (TaskReply) async throws -> Void,
    progress: @escaping @Sendable (TaskReply) -> Void
  ) async throws -> TaskReply {
    startedTasks.withLock { $0.append(request) }
    if request.recording == "none" { throw ControlError.noSuchRecording("none") }
    progress(TaskReply(task: "t-1", percent: 50))
    if request.kind == .export {
      var part = TaskReply(task: "t-1")
      part.text = "{\"type\":\"viewers\",\"count\":1}\n"
      try await reply(part)
    }
    var last = TaskReply(task: "t-1", percent: 100)
    last.result = ["messages": 7]
    last.lines = ["7 messages"]
    return last
  }
  package func listTasks() async throws -> [TaskReport] {
    [TaskReport(task: "t-1", kind: .spam, subject: "main", percent: 40, startedAt: 0)]
  }
  package func cancelTask(_ task: String) async throws {
    if task != "t-1" { throw ControlError.noSuchTask(task) }
  }
  package func startRecording(_ room: String, retries: Bool) async throws -> RecordingReport {
    _ = try await getRoom(room)
    recording.withLock { _ = $0.insert(room) }
    return .example
  }
  package func pauseRecording(_ room: String) async throws -> RecordingReport {
    guard recording.withLock({ $0.contains(room) }) else { throw ControlError.notRecording(room) }
    return .example
  }
  package func resumeRecording(_ room: String) async throws -> RecordingReport {
    try await pauseRecording(room)
  }
  package func stopRecording(_ room: String) async throws -> RecordingReport {
    guard recording.withLock({ $0.remove(room) }) != nil else {
      throw ControlError.notRecording(room)
    }
    return .example
  }
  package func deleteRecording(_ recording: String) async throws -> RecordingReport {
    guard recording == "main-1" else { throw ControlError.noSuchRecording(recording) }
    return .example
  }
  package func listRecordings(
    _ room: String?, before: String?
  ) async throws -> ListRecordingsReply {
    if room == "pages" {
      // Five recordings, two per page.
      let names = (1...5).map { "p\($0)" }
      let end = before.flatMap { names.firstIndex(of: $0) } ?? names.count
      let page = names[max(0, end - 2)..<end]
      return ListRecordingsReply(
        recordings: page.map { name in
          var recording = RecordingReport.example
          recording.recording = name
          return recording
        }, older: page.startIndex > 0 ? page.startIndex : nil)
    }
    let exists = before == nil && (room == nil || room == "main")
    return ListRecordingsReply(recordings: exists ? [.example] : [])
  }

  package func sendEvents(room: String?, _ events: [JSONValue]) async throws -> SendEventsReply {
    for (index, event) in events.enumerated() {
      if event["type"] == nil {
        throw ControlError.invalidEvent(index: index, reason: "missingMember", fault: nil)
      }
      if event["type"] == "nonsense" {
        throw ControlError.invalidEvent(index: index, reason: "unknownType", fault: nil)
      }
    }
    record("send \(room ?? "-") \(events.map(\.description).joined(separator: " "))")
    return SendEventsReply(received: events.count, rejected: 0)
  }
}

extension FakeService: ManagedService {
  package func reload() async throws { record("reload") }
  package func setLogLevel(_ level: Int) { record("log level \(level)") }
}

extension RoomReport {
  /// Returns this report without unrequested features; nil requests all features.
  package func keeping(_ features: Set<Feature>?) -> RoomReport {
    guard let features else { return self }
    var report = self
    if !features.contains(.chat) { report.features.chat = nil }
    if !features.contains(.control) { report.features.control = nil }
    if !features.contains(.header) { report.features.header = nil }
    if !features.contains(.liveRoomStats) { report.features.liveRoomStats = nil }
    if !features.contains(.recorder) { report.features.recorder = nil }
    if !features.contains(.waitingRoom) { report.features.waitingRoom = nil }
    return report
  }

  package static let empty = RoomReport(
    room: "main", phase: .waiting,
    features: FeatureReports(
      control: ControlReport(), header: HeaderReport(), recorder: RecorderReport(state: .idle)))

  package static let full: RoomReport = {
    let sample = StatisticsReport(bitrateKbps: 4500, framesPerSecond: 59.94)
    return RoomReport(
      room: "main", phase: .live,
      features: FeatureReports(
        chat: ChatReport(
          total: 2, deleted: 1, chatters: 1, rate: 0.25,
          messages: [
            ChatMessageReport(
              id: "1", user: UserReport(id: "u", name: "Ü", badges: ["vip"]), text: "hi",
              timestamp: 1_700_000_000_000)
          ], moderations: 1, notices: 2, busiestSecond: .init(byClock: 1, sliding: 2),
          modes: ChatModesReport(slowSeconds: 30, emoteOnly: true),
          noticeQueue: [
            NoticeReport(
              number: 2, kind: "raid", user: UserReport(id: "u", name: "Ü"), count: 3, timestamp: 4,
              pinned: true)
          ], filter: ChatFilterReport(user: "u", words: "hi", mentionsOnly: true),
          filtered: [
            ChatMessageReport(
              id: "1", user: UserReport(id: "u", name: "Ü"), text: "hi @ann", timestamp: 1,
              mention: true, channel: "c")
          ], mentionedNames: ["ann"], unread: 1, thread: []),
        control: ControlReport(
          values: ["volume": 0.5], switches: ["mute": true], dragging: ["volume"], committed: 1),
        header: HeaderReport(title: "T", viewers: 3, peakViewers: 4, likes: 5, durationMs: 6),
        liveRoomStats: LiveRoomStatsReport(
          last: sample, minimum: sample, maximum: sample, mean: sample, quality: "good"),
        recorder: RecorderReport(state: .recording, bytes: 1, durationMs: 2, progress: 0.5),
        waitingRoom: WaitingRoomReport(
          waiting: 1, admitted: 2, capacity: 3, secondsLeft: 4, startsAt: 5,
          people: [UserReport(id: "u", name: "Ü")])),
      counters: Counters(received: 10, applied: 7, coalesced: 1, rejected: 1, pending: 1),
      rejectedByReason: ["duplicate": 1], actions: 5, actionsByKind: ["chat": 5], frames: 3,
      views: ["HostView": ViewReport(evaluations: 3, totalMicroseconds: 9, maximumMicroseconds: 4)])
  }()
}

extension RecordingReport {
  package static let example = RecordingReport(
    recording: "main-20231114T221320Z", room: "main", state: .failed, reason: "No space left",
    startedAt: 1_700_000_000_000, endedAt: nil, events: 1_234, frames: 5, bytes: 2_048,
    durationMs: 61_000, segments: 1, digest: nil)
}
