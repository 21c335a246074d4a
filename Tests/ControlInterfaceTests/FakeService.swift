import ControlInterface
import Glibc
import NIOPosix
import Synchronization
import UnixSockets
import Varlink

/// A daemon with one room, `main`, and what was done to it.
final class FakeService: ControlService {
  let feed: RoomFeed
  let log = Mutex<[String]>([])

  init(onDemand: @escaping @Sendable () -> Void = {}) { feed = RoomFeed(onDemand: onDemand) }

  private func note(_ text: String) { log.withLock { $0.append(text) } }

  func getStatus() async throws -> StatusReport {
    StatusReport(
      version: "1", uptimeSeconds: 2, rooms: 1, eventsPerSecond: 0.5,
      totals: .init(.init(received: 2, applied: 1, rejected: 1), rejectedByReason: ["x": 1]),
      health: .ok, longestTurnMicroseconds: 3, memoryBytes: 4, journalEntriesLost: 0, lanes: 2)
  }
  func listRooms() async throws -> [RoomSummary] {
    [RoomSummary(room: "main", phase: .live, viewers: 3, counters: .init())]
  }
  func openRoom(_ room: String) async throws {
    if room == "main" { throw ControlError.roomExists(room) }
    note("open \(room)")
  }
  func closeRoom(_ room: String) async throws {
    feed.finish(.noSuchRoom(room))
    note("close \(room)")
  }
  func getRoom(_ room: String) async throws -> RoomReport {
    guard room == "main" else { throw ControlError.noSuchRoom(room) }
    return .full
  }
  func roomFeed(_ room: String) async throws -> RoomFeed {
    guard room == "main" else { throw ControlError.noSuchRoom(room) }
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
    _ = try await getRoom(room)
    note("set \(control) \(setting)")
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
    for (index, event) in events.enumerated() where event["type"] == nil {
      throw ControlError.invalidEvent(index: index, reason: "missingMember")
    }
    note("send \(room ?? "-") \(events.map(\.description).joined(separator: " "))")
    return SendEventsReply(received: events.count, rejected: 0)
  }
}

extension RoomReport {
  static let empty = RoomReport(
    room: "main", phase: .waiting, features: .init(), counters: .init())

  static let full: RoomReport = {
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
          ], moderations: 1, notices: 2, busiestSecond: .init(byClock: 1, sliding: 2)),
        control: ControlReport(
          values: ["volume": 0.5], switches: ["mute": true], dragging: ["volume"], committed: 1),
        header: HeaderReport(title: "T", viewers: 3, peakViewers: 4, likes: 5, durationMs: 6),
        liveRoomStats: LiveRoomStatsReport(
          last: sample, minimum: sample, maximum: sample, mean: sample, quality: "good"),
        recorder: RecorderReport(state: .recording, bytes: 1, durationMs: 2, progress: 0.5),
        waitingRoom: WaitingRoomReport(waiting: 1, admitted: 2)),
      counters: Counters(received: 10, applied: 7, coalesced: 1, rejected: 1, pending: 1),
      rejectedByReason: ["duplicate": 1], actions: 5, actionsByKind: ["chat": 5], frames: 3,
      views: ["HostView": ViewReport(evaluations: 3, totalMicroseconds: 9, maximumMicroseconds: 4)])
  }()
}

/// A file's text; empty if it cannot be read.
func readFile(_ path: String) -> String {
  guard let file = fopen(path, "r") else { return "" }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = getc(file), byte >= 0 { bytes.append(UInt8(byte)) }
  return String(decoding: bytes, as: UTF8.self)
}

/// Serves the fake daemon on a socket in a directory of its own.
func withControlServer<T>(
  _ service: FakeService, limits: VarlinkServer.Limits = .init(), mayChange: Bool = true,
  sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in },
  _ body: (String, VarlinkServer) async throws -> T
) async throws -> T {
  var template = Array("/tmp/control-test-XXXXXX".utf8CString)
  _ = mkdtemp(&template)
  let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  defer { rmdir(directory) }
  let path = "\(directory)/io.livehost.Control"
  let interface = try ControlInterface.makeInterface(
    service: service, mayChange: { _ in mayChange }, sleep: sleep)
  let server = try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666),
    information: ServiceInformation(
      vendor: "livehost", product: "livehostd", version: "1", url: "https://example.org"),
    interfaces: [interface], limits: limits, group: MultiThreadedEventLoopGroup.singleton)
  do {
    let result = try await body(path, server)
    await server.shutdown()
    return result
  } catch {
    await server.shutdown()
    throw error
  }
}

extension RecordingReport {
  static let example = RecordingReport(
    recording: "main-20231114T221320Z", room: "main", state: .failed, reason: "No space left",
    startedAt: 1_700_000_000_000, endedAt: nil, events: 1_234, frames: 5, bytes: 2_048,
    durationMs: 61_000, segments: 1, digest: nil)
}
