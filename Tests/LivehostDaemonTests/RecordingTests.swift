import ControlInterface
import Foundation
import HostScreen
import LiveEvents
import LivehostDaemon
import Logging
import NIOCore
import NIOPosix
import Recordings
import Synchronization
import TestSupport
import Testing
import WireFormats

/// A lane, its rooms and a directory of recordings.
final class Studio {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let path = NSTemporaryDirectory() + "studio-\(UUID().uuidString.prefix(8))"
  let library: RecordingLibrary
  let recordings: RoomRecordings
  let lane: HostLane
  let directory: RoomDirectory

  init(path recordingPath: String? = nil) throws {
    let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
    let library = try RecordingLibrary(directory: recordingPath ?? path)
    self.library = library
    let recordings = RoomRecordings(
      library: library, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    self.recordings = recordings
    lane = HostLane(
      index: 0, eventLoop: loop, settings: RoomSettings(),
      onRecordingEnd: { recordings.ended($0, $1, $2) })
    directory = RoomDirectory(lanes: [lane], maximumRooms: 8)
  }

  func send(_ events: [LiveEvent], to room: RoomName, clock: FrameClock) async -> Int {
    await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: room, events: events, clock: clock,
          acknowledgement: .callback { continuation.resume(returning: $0) }))
    }
  }

  func replay(
    _ name: String, into room: RoomName, speed: Double? = nil, start: Int64 = 0
  ) async throws -> ReplayResult {
    _ = try directory.open(room)
    let replay = Replay(
      try await library.files(of: name), into: room, on: lane, speed: speed, start: start)
    // Time passes only while somebody waits.
    let time = Mutex<UInt64>(0)
    return try await replay.run(
      sleep: { nanoseconds in time.withLock { $0 += nanoseconds } },
      now: { time.withLock { $0 } })
  }

  func end() async throws {
    await directory.closeAll()
    await recordings.close()
    try await group.shutdownGracefully()
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// Everything that a room can be sent, with some that it refuses.
func traffic(_ count: Int, seed: UInt64 = 1) -> [LiveEvent] {
  var random = SplitMix64(seed: seed)
  return (0..<count).map { number in
    let person = Person(id: Text("u\(random.next() % 40)"), name: "Ada")
    let id = "m\(number)"
    let payload: LiveEvent.Payload =
      switch random.next() % 16 {
      case 0: .viewers(count: Int(random.next() % 1_000))
      case 1: .reaction(kind: "heart", count: Int(random.next() % 9))
      case 2: .slider(Slider(control: "gain", phase: .begin, value: 0.5))
      case 3: .slider(Slider(control: "gain", phase: .change, value: 0.75))
      case 4: .slider(Slider(control: "gain", phase: .end, value: 0.25))
      case 5: .tap(control: "mute", on: nil)
      case 6: .stats(StreamStatistics(bitrateKbps: Double(random.next() % 9_000)))
      case 7: .chatDelete(messageID: Text("m\(random.next() % UInt64(number + 1))"))
      case 8: .chatTimeout(ChatTimeout(user: person, seconds: 60))
      case 9: .waitingJoin(person)
      case 10: .recorderState(.recording)
      case 11: .recorderProgress(RecorderProgress(bytes: number, durationMilliseconds: number))
      case 12: .stream(number > count / 2 ? .live : .waiting)
      default:
        .chatMessage(
          ChatMessage(
            id: id, userID: String(person.id), userName: "Ada", text: "text \(number) \"q\""))
      }
    return LiveEvent(timestamp: 1_700_000_000_000 + Timestamp(number * 13), payload: payload)
  }
}

@Suite("Recording and replay of rooms")
struct RoomRecordingTests {
  @Test(
    "a replay gives the state of the live run at every speed",
    arguments: [FrameClock.event, .arrival])
  func replay(clock: FrameClock) async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let events = traffic(3_000)
    for start in stride(from: 0, to: events.count, by: 150) {
      _ = await studio.send(Array(events[start..<start + 150]), to: .main, clock: clock)
    }
    let live = try #require(await studio.lane.report(.main))
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let digest = try #require(recording.digest)
    #expect(recording.events == live.counters.received - live.counters.rejected)
    #expect(recording.state == .finished)
    for (index, speed) in [nil, 0.5, 1, 16, 1_000].enumerated() {
      let room = try #require(RoomName("replay\(index)"))
      let result = try await studio.replay(recording.recording, into: room, speed: speed)
      #expect(result.digest == digest, "at \(speed.map { "\($0)" } ?? "full speed")")
      #expect(result.events == recording.events)
      #expect(result.frames == recording.frames)
      let report = try #require(await studio.lane.report(room))
      #expect(report.features.chat == live.features.chat)
      #expect(report.features.control == live.features.control)
      #expect(report.counters.rejected == 0)
    }
    try await studio.end()
  }

  @Test("a replay from the middle on has the events from there on")
  func seek() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send(traffic(1_000), to: .main, clock: .event)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let room = try #require(RoomName("later"))
    let result = try await studio.replay(
      recording.recording, into: room, start: Int64(recording.durationMs) * 500_000)
    #expect((400...600).contains(result.events))
    try await studio.end()
  }

  @Test("what a room shows of its own recorder, and which calls are refused")
  func states() async throws {
    let studio = try Studio()
    await #expect(throws: ControlError.noSuchRoom("main")) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    _ = try studio.directory.open(.main)
    await #expect(throws: ControlError.notRecording("main")) {
      _ = try await studio.recordings.stop(.main, on: studio.lane)
    }
    let started = try await studio.recordings.start(.main, on: studio.lane)
    #expect(await studio.lane.report(.main)?.features.recorder?.state == .recording)
    await #expect(throws: ControlError.alreadyRecording("main")) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    #expect(try await studio.recordings.list("main").map(\.recording) == [started.recording])
    #expect(try await studio.recordings.list("other").isEmpty)
    _ = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(await studio.lane.report(.main)?.features.recorder?.state == .idle)
    try await studio.end()
  }

  @Test("a room that is closed while it records leaves a finished recording")
  func closing() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let started = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send(traffic(100), to: .main, clock: .event)
    #expect(await studio.directory.close(.main))
    // A second one may begin once the first is closed.
    _ = try studio.directory.open(.main)
    var list = try await studio.recordings.list(nil)
    while list.first?.state == .recording { list = try await studio.recordings.list(nil) }
    #expect(list.first?.recording == started.recording)
    #expect(list.first?.state == .finished)
    #expect((list.first?.events ?? 0) > 80)
    try await studio.end()
  }

  @Test("where nothing can be recorded the call tells why, and the room lives on")
  func failing() async throws {
    let studio = try Studio(path: "/proc/livehost")
    _ = try studio.directory.open(.main)
    let error = await #expect(throws: ControlError.self) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    guard case .recordingFailed("main", let reason) = error else {
      Issue.record("threw \(String(describing: error))")
      return
    }
    #expect(reason.contains("/proc/livehost"))
    #expect(await studio.send(traffic(10), to: .main, clock: .event) == 0)
    #expect(await studio.lane.report(.main)?.features.recorder?.state == .failed)
    try await studio.end()
  }
}
