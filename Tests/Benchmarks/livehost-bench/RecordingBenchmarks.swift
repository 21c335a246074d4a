import BenchmarkKit
import ControlInterface
import Foundation
import Ingest
import LiveEvents
import Logging
import NIOCore
import NIOPosix
import Recordings
import Rooms
import UnixSockets

/// Measures the cost of recording a room: the room's throughput and the processor time of its lane.
/// Also measures how fast a recording is verified.
func recordingBenchmarks(_ harness: Harness) async throws {
  guard ["record.rate", "record.lane", "record.verify"].contains(where: harness.isWanted) else {
    return
  }
  FileHandle.standardError.write(Data("measuring record\n".utf8))
  let studio = try await BenchmarkStudio()
  if harness.isWanted("record.rate") { try await measureRate(harness, studio) }
  if harness.isWanted("record.lane") { try await measureLane(harness, studio) }
  if harness.isWanted("record.verify") { try await measureVerification(harness, studio) }
  try await studio.end()
}

/// Measures the throughput from the socket to the disk, up to the acknowledgement of a `sync`.
private func measureRate(_ harness: Harness, _ studio: BenchmarkStudio) async throws {
  let lines = MessageLines(count: 200_000)
  var rates: [Double] = []
  for round in 0..<8 {
    _ = try await studio.recordings.start(studio.room, on: studio.lane)
    let socket = try BenchmarkSocket(path: studio.path)
    let start = Harness.now()
    try socket.send(lines.bytes)
    try socket.sync()
    let time = Harness.now() - start
    _ = try await studio.recordings.stop(studio.room, on: studio.lane)
    studio.removeSegments()
    // The first two rounds grow tables and buffers.
    if round >= 2 { rates.append(Double(lines.count) / Double(time) * 1e9) }
  }
  harness.report("record.rate", Harness.median(rates), "events/s", bar: ">= 300000 events/s")
}

/// Measures the processor time of the lane's thread per event at a fixed rate, alternately with and
/// without recording.
private func measureLane(_ harness: Harness, _ studio: BenchmarkStudio) async throws {
  let lines = MessageLines(count: LanePace.rate)
  var plain: [Double] = []
  var recorded: [Double] = []
  var rates: [Double] = []
  for round in 0..<12 {
    let without = try LanePace.play(lines, studio)
    _ = try await studio.recordings.start(studio.room, on: studio.lane)
    let with = try LanePace.play(lines, studio)
    _ = try await studio.recordings.stop(studio.room, on: studio.lane)
    studio.removeSegments()
    guard round >= 2 else { continue }
    plain.append(without.nanosecondsPerEvent)
    recorded.append(with.nanosecondsPerEvent)
    rates += [without.rate, with.rate]
  }
  let ratios = zip(plain, recorded).map { ($1 / $0 - 1) * 100 }
  harness.report("record.lane.plain", Harness.median(plain), "ns")
  harness.report("record.lane.recorded", Harness.median(recorded), "ns")
  harness.report("record.lane", Harness.median(ratios), "% slower", bar: "<= 15 %")
  print("  record.lane at \(Int(Harness.median(rates))) events/s, one second a round")
}

/// Measures how fast a recording of 200,000 messages in the page cache is verified, alternately
/// with a plain read of its files in blocks of the same size.
private func measureVerification(_ harness: Harness, _ studio: BenchmarkStudio) async throws {
  _ = try await studio.recordings.start(studio.room, on: studio.lane)
  let socket = try BenchmarkSocket(path: studio.path)
  try socket.send(MessageLines(count: 200_000).bytes)
  try socket.sync()
  let recording = try await studio.recordings.stop(studio.room, on: studio.lane)
  let files = try await studio.library.files(of: recording.recording)
  var verified: [Double] = []
  var ratios: [Double] = []
  for round in 0..<12 {
    let start = Harness.now()
    var check = RecordingCheck(files)
    while try check.next() {}
    guard check.damage == nil else { throw POSIXError(.EIO) }
    let middle = Harness.now()
    for segment in files.segments {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: segment.path))
      while let block = try file.read(upToCount: 32 << 10), !block.isEmpty { keep(block.count) }
    }
    let end = Harness.now()
    if round < 2 { continue }
    verified.append(Double(files.bytes) / Double(middle - start))
    ratios.append(Double(middle - start) / Double(end - middle))
  }
  studio.removeSegments()
  harness.report("record.verify", Harness.median(verified), "GB/s", bar: ">= 1 GB/s")
  harness.report("record.verify.reading", Harness.median(ratios), "x reading")
}

/// Sends one second of messages to the socket, in portions of a millisecond.
private struct LanePace {
  static let rate = 310_000

  var nanosecondsPerEvent: Double
  var rate: Double

  static func play(_ lines: MessageLines, _ studio: BenchmarkStudio) throws -> LanePace {
    let socket = try BenchmarkSocket(path: studio.path)
    let parts = 1_000
    let before = SchedulerTimes.of(thread: studio.lane.threadID)?.ran ?? 0
    let start = Harness.now()
    for part in 0..<parts {
      let due = start + UInt64(part) * 1_000_000
      Harness.wait(until: due)
      let range = lines.range(part * lines.count / parts..<(part + 1) * lines.count / parts)
      try lines.bytes[range].withUnsafeBytes { try socket.send(Data($0)) }
    }
    try socket.sync()
    let time = Harness.now() - start
    let ran = (SchedulerTimes.of(thread: studio.lane.threadID)?.ran ?? 0) - before
    return LanePace(
      nanosecondsPerEvent: Double(ran) / Double(lines.count),
      rate: Double(lines.count) / Double(time) * 1e9)
  }
}

/// A lane with a room, its socket, its state, and a directory of recordings.
final class BenchmarkStudio {
  let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
  let room: RoomName
  let lane: HostLane
  let directory: RoomDirectory
  let library: RecordingLibrary
  let recordings: RoomRecordings
  let path: String
  private let state: String
  private let store: SnapshotStore
  private let laneGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let ioGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let server: IngestServer

  init() async throws {
    guard let loop = laneGroup.next() as? any EventLoop & NIOSerialEventLoopExecutor,
      let room = RoomName("bench")
    else { throw POSIXError(.EINVAL) }
    self.room = room
    path = NSTemporaryDirectory() + "livehost-bench-\(getpid())"
    state = path + ".state"
    store = try SnapshotStore(directory: state + "/rooms")
    try store.start()
    library = try RecordingLibrary(directory: state + "/recordings")
    let recordings = RoomRecordings(
      library: library, logger: logger)
    self.recordings = recordings
    lane = HostLane(
      index: 0, eventLoop: loop, settings: RoomSettings(), snapshots: store, library: library,
      recordings: recordings)
    directory = RoomDirectory(lanes: [lane], maximumRooms: 4)
    try directory.open(room)
    server = try await IngestServer.start(
      on: ListeningSocket.bind(path: path), group: ioGroup,
      sink: EventRouter(directory: directory))
  }

  /// Deletes finished recordings and the file of the catalogue to free disk space.
  func removeSegments() {
    let (manager, directory) = (FileManager.default, state + "/recordings")
    for name in (try? manager.contentsOfDirectory(atPath: directory)) ?? []
    where name.hasPrefix("bench-") { try? manager.removeItem(atPath: directory + "/" + name) }
  }

  func end() async throws {
    await server.shutdown()
    await directory.closeAll()
    await recordings.close()
    await store.close()
    try await ioGroup.shutdownGracefully()
    try await laneGroup.shutdownGracefully()
    try? FileManager.default.removeItem(atPath: state)
  }
}
