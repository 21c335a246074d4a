import ControlInterface
import NIOCore
import NIOPosix
import UnixSockets
import Varlink

/// What a real daemon would answer, made up.
struct FakeService: ControlService {
  let feed = RoomFeed {}

  static let room = RoomReport(
    room: "main", phase: .live,
    features: FeatureReports(
      chat: ChatReport(
        total: 2, chatters: 1, rate: 0.5,
        messages: [
          ChatMessageReport(
            id: "1", user: UserReport(id: "u", name: "ann"), text: "hi\u{1B}[2J", timestamp: 1)
        ], moderations: 3, notices: 4, busiestSecond: BusiestSecond(byClock: 5, sliding: 6))),
    counters: Counters(received: 9, applied: 6, coalesced: 2, rejected: 1), actions: 7, frames: 8,
    views: ["HostView": ViewReport(evaluations: 3)])

  func getStatus() async throws -> StatusReport {
    StatusReport(
      version: "9.9", uptimeSeconds: 3_723, rooms: 1, eventsPerSecond: 12.34,
      totals: TotalsReport(),
      health: .ok, longestTurnMicroseconds: 1_250, memoryBytes: 3 << 20, journalEntriesLost: 0,
      lanes: 2)
  }

  func listRooms() async throws -> [RoomSummary] {
    [RoomSummary(room: "main", phase: .live, viewers: 1_234, counters: Self.room.counters)]
  }

  func openRoom(_ room: String) async throws {
    if room == "main" { throw ControlError.roomExists(room) }
  }

  func closeRoom(_ room: String) async throws { _ = try await getRoom(room) }

  func getRoom(_ room: String) async throws -> RoomReport {
    guard room == "main" else { throw ControlError.noSuchRoom(room) }
    return Self.room
  }

  func roomFeed(_ room: String) async throws -> RoomFeed {
    _ = try await getRoom(room)
    return feed
  }

  let hangs = HangFeed()

  func screenFeed(_ room: String) async throws -> RoomFeed { try await roomFeed(room) }

  func simulate(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply {
    if request.scenario == "bad" {
      throw ControlError.invalidScenario(
        file: request.path, line: 3, key: "seed", message: "is no number")
    }
    for percent in [0, 50] { progress(percent) }
    var reply = SimulateReply(percent: 100)
    reply.report = ["digest": "d"]
    reply.lines = ["a table"]
    reply.missed = request.thresholds
    return reply
  }

  func explain(room: String, view: String) async throws -> Explanation {
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

  func setControl(
    room: String, control: String, _ setting: ControlSetting
  ) async throws -> ControlSetting {
    guard control != "one too many" else { throw ControlError.limitReached("controls") }
    return setting == .position(nil) ? .position(true) : setting
  }

  func startTask(
    _ request: StartTaskRequest, reply: @escaping @Sendable (TaskReply) async throws -> Void,
    progress: @escaping @Sendable (TaskReply) -> Void
  ) async throws -> TaskReply {
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
  func listTasks() async throws -> [TaskReport] {
    [TaskReport(task: "t-1", kind: .spam, subject: "main", percent: 40, startedAt: 0)]
  }
  func cancelTask(_ task: String) async throws {
    if task != "t-1" { throw ControlError.noSuchTask(task) }
  }
  func startRecording(_ room: String) async throws -> RecordingReport {
    _ = try await getRoom(room)
    return .example
  }
  func stopRecording(_ room: String) async throws -> RecordingReport {
    throw ControlError.notRecording(room)
  }
  func listRecordings(_ room: String?) async throws -> [RecordingReport] {
    room == nil || room == "main" ? [.example] : []
  }

  func sendEvents(room: String?, _ events: [JSONValue]) async throws -> SendEventsReply {
    if events.first?["type"] == "nonsense" {
      throw ControlError.invalidEvent(index: 0, reason: "unknownType")
    }
    return SendEventsReply(received: events.count, rejected: 0)
  }
}

/// The sockets of a daemon, served by the library's own server and by ``FakeIngest``.
struct FakeDaemon {
  let directory: TestDirectory
  let service = FakeService()
  let ingest: FakeIngest
  private let server: VarlinkServer
  private let listener: any Channel

  /// - Parameter mayChange: Whether callers are allowed to change something.
  init(mayChange: Bool = true, closesAfterSyncs: Int? = nil) async throws {
    directory = try TestDirectory()
    let group = MultiThreadedEventLoopGroup.singleton
    let interface = try ControlInterface.makeInterface(service: service) { _ in mayChange }
    server = try await VarlinkServer.start(
      on: .bind(path: "\(directory.path)/io.livehost.Control"),
      information: ServiceInformation(vendor: "test", product: "test", version: "0", url: "test:"),
      interfaces: [interface], group: group)
    let ingest = FakeIngest(closesAfterSyncs: closesAfterSyncs)
    self.ingest = ingest
    listener = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(FakeIngest.Handler(ingest))
        }
      }
      .bind(unixDomainSocketPath: "\(directory.path)/ingest", cleanupExistingSocketFile: true).get()
  }

  func run(_ arguments: [String]) async -> Run {
    await CommandLineToolTests.run(["--socket", directory.path] + arguments)
  }

  func stop() async {
    try? await listener.close().get()
    _ = directory.write("ingest", [])
    await server.shutdown()
  }
}

extension RecordingReport {
  static let example = RecordingReport(
    recording: "main-20231114T221320Z", room: "main", state: .failed, reason: "No space left",
    startedAt: 1_700_000_000_000, endedAt: nil, events: 1_234, frames: 5, bytes: 2_048,
    durationMs: 61_000, segments: 1, digest: nil)
}
