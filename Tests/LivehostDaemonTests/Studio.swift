import ControlInterface
import Foundation
import HostScreen
import Ingest
import LiveEvents
import LivehostDaemon
import Logging
import NIOCore
import NIOPosix
import Recordings
import Rooms
import Synchronization
import TestSupport
import Testing
import UnixSockets
import Varlink
import WireFormats

/// A lane with its rooms, and a directory of recordings.
final class Studio {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let home = TemporaryDirectory()
  let path: String
  private let store: SnapshotStore
  let library: RecordingLibrary
  let recordings: RoomRecordings
  let lane: HostLane
  let directory: RoomDirectory

  let tasks: RoomTasks
  let slots = WorkSlots(count: 1)
  private let executor: WorkExecutor

  init(
    path recordingPath: String? = nil, recording: RecordingSettings = RecordingSettings(),
    settings: RoomSettings = RoomSettings(), turnLength: TimeAmount = .milliseconds(8),
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) throws {
    path = home.path + "/recordings"
    let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
    let library = try RecordingLibrary(
      directory: recordingPath ?? path, log: home.path + "/log", settings: recording)
    self.library = library
    store = try SnapshotStore(directory: home.path + "/rooms")
    try store.start()
    let recordings = RoomRecordings(library: library, logger: logger)
    self.recordings = recordings
    executor = WorkExecutor(width: 1)
    try executor.start()
    lane = HostLane(
      index: 0, eventLoop: loop, settings: settings, snapshots: store, library: library,
      recordings: recordings, work: executor, turnLength: turnLength)
    let registry = TaskRegistry()
    directory = RoomDirectory(
      lanes: [lane], maximumRooms: 12,
      observer: { room, event in if case .closed = event { registry.roomClosed(room) } })
    tasks = RoomTasks(
      registry: registry, executor: executor, slots: slots, recordings: recordings,
      directory: directory, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  func send(_ events: [LiveEvent], to room: RoomName, clock: FrameClock) async -> Int {
    await sendRecorded(events, to: room, clock: clock).rejected
  }

  /// Sends events and also returns why they are not on disk, if a recording or the log should have
  /// them.
  func sendRecorded(
    _ events: [LiveEvent], to room: RoomName, clock: FrameClock = .event
  ) async -> (rejected: Int, failure: String?) {
    await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: room, events: events, clock: clock,
          receipt: DeliveryReceipt { continuation.resume(returning: (rejected: $0, failure: $1)) })
      )
    }
  }

  /// Waits until due rooms are saved, which happens after the log is synced.
  func settle() async {
    for _ in 0..<2 {
      _ = await lane.summaries()
      await library.settle()
      await withCheckedContinuation { continuation in
        store.remove(RoomLifetime("none")) { _ in continuation.resume() }
      }
    }
  }

  /// Returns all lines of a recording.
  func text(of recording: String) throws -> String {
    let directory = path + "/" + recording
    return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      .map { try String(contentsOfFile: directory + "/" + $0, encoding: .utf8) }.joined()
  }

  func replay(
    _ name: String, into room: RoomName, speed: Double? = nil, start: Int64 = 0,
    during: @escaping @Sendable () -> Void = {},
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> ReplayResult {
    if directory.lane(of: room) == nil { _ = try directory.open(room) }
    let replay = Replay(
      try await library.files(of: name), into: room, on: lane, speed: speed, start: start)
    // Time passes only while a task waits.
    let time = Mutex<UInt64>(0)
    return try await replay.run(
      sleep: { nanoseconds in
        time.withLock { $0 += nanoseconds }
        during()
      },
      now: { time.withLock { $0 } }, progress: progress)
  }

  /// Records some traffic in `main` and returns the recording.
  func record(_ count: Int = 1_000) async throws -> RecordingReport {
    if directory.lane(of: .main) == nil { _ = try directory.open(.main) }
    _ = try await recordings.start(.main, on: lane)
    _ = await send(traffic(count), to: .main, clock: .event)
    return try await recordings.stop(.main, on: lane)
  }

  /// The implementation of the control interface.
  var control: LivehostControl {
    LivehostControl(
      directory: directory, router: EventRouter(directory: directory),
      status: DaemonStatus(version: "1", lostEntries: { 0 }),
      simulations: Simulations(executor: executor, slots: slots), recordings: recordings,
      tasks: tasks)
  }

  var controlSocket: String { path + ".control" }

  /// Serves the control interface. Monitors call `sleep` to wait between replies.
  func serve(
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) async throws -> VarlinkServer {
    let service = control
    return try await VarlinkServer.start(
      on: .bind(path: controlSocket),
      information: ServiceInformation(vendor: "", product: "", version: "", url: ""),
      interfaces: [
        try ControlInterface.makeInterface(
          service: service, mayChange: { _ in true }, sleep: sleep)
      ], group: MultiThreadedEventLoopGroup.singleton)
  }

  func end() async throws {
    executor.stop()
    await directory.closeAll()
    await recordings.close()
    await store.close()
    try await group.shutdownGracefully()
  }
}

/// Every kind of event that a room can receive, including some that it rejects.
func traffic(_ count: Int, seed: UInt64 = 1) -> [LiveEvent] {
  var random = SplitMix64(seed: seed)
  return (0..<count).map { number in
    let person = Person(id: Text("u\(random.next() % 40)"), name: "Ada")
    let id = "m\(number)"
    let payload: LiveEvent.Payload =
      switch random.next() % 16 {
      case 0: .header(.viewers(count: Int(random.next() % 1_000)))
      case 1: .header(.reaction(kind: "heart", count: Int(random.next() % 9)))
      case 2: .control(.slider(Slider(control: "gain", phase: .begin, value: 0.5)))
      case 3: .control(.slider(Slider(control: "gain", phase: .change, value: 0.75)))
      case 4: .control(.slider(Slider(control: "gain", phase: .end, value: 0.25)))
      case 5: .control(.tap(control: "mute", on: nil))
      case 6: .liveRoomStats(StreamStatistics(bitrateKbps: Double(random.next() % 9_000)))
      case 7: .chat(.delete(messageID: Text("m\(random.next() % UInt64(number + 1))")))
      case 8: .chat(.timeout(ChatTimeout(user: person, seconds: 60)))
      case 9: .waitingRoom(.join(person))
      case 10: .recorder(.state(.recording))
      case 11: .recorder(.progress(RecorderProgress(bytes: number, durationMilliseconds: number)))
      case 12: .stream(number > count / 2 ? .live : .waiting)
      default:
        .chat(
          .message(
            ChatMessage(
              id: id, userID: String(person.id), userName: "Ada", text: "text \(number) \"q\"")))
      }
    return LiveEvent(timestamp: 1_700_000_000_000 + Timestamp(number * 13), payload: payload)
  }
}
