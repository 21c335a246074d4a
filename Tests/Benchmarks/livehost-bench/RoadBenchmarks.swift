import BenchmarkKit
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Rooms
import UnixSockets
import WireFormats

/// Measures the whole path from the ingest socket to the acknowledgement of a `sync`: decoding,
/// throttling,
/// reducing and drawing on one lane with the real features. Compares it with decoding the same
/// bytes alone.
func roadBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("road.socket") else { return }
  FileHandle.standardError.write(Data("measuring road.socket\n".utf8))
  let path = NSTemporaryDirectory() + "livehost-bench-\(getpid())"
  let laneGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let ioGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  guard let loop = laneGroup.next() as? any EventLoop & NIOSerialEventLoopExecutor else { return }
  let lane = HostLane(index: 0, eventLoop: loop, settings: RoomSettings())
  let directory = RoomDirectory(lanes: [lane], maximumRooms: 4)
  let server = try await IngestServer.start(
    on: ListeningSocket.bind(path: path), group: ioGroup,
    sink: EventRouter(directory: directory))

  let lines = MessageLines(count: 200_000)
  let work = DecodingWork(lines)
  let decoding = (0..<7).map { _ in
    let start = Harness.now()
    var decoder = LineDecoder()
    keep(work.slabs.reduce(0) { $0 + work.decode($1, with: &decoder) })
    return Double(lines.count) / Double(Harness.now() - start) * 1e9
  }
  var rates: [Double] = []
  var memory: [Int] = []
  // Rounds are long because the answer comes with a frame, whose delay would dominate short rounds.
  let repeats = 40
  for round in 0..<8 {
    let nanoseconds = try sendAndSync(lines.bytes, times: repeats, to: path)
    // The first two rounds grow tables and buffers.
    guard round >= 2 else { continue }
    rates.append(Double(repeats * lines.count) / Double(nanoseconds) * 1e9)
    memory.append(DaemonStatus.residentBytes())
  }
  harness.report("road.socket", Harness.median(rates), "events/s", bar: ">= 300000 events/s")
  harness.report(
    "road.socket.decode", Harness.median(decoding) / Harness.median(rates), "x",
    bar: "<= 2 x the bare decoding, on one thread")
  harness.report(
    "road.memory.growth", Double((memory.last ?? 0) - (memory.first ?? 0)) / 1024, "KiB",
    bar: "flat: \((memory.first ?? 0) >> 20) MiB at first")
  harness.report(
    "road.turn.longest", Double(lane.meter.longestNanoseconds) / 1e6, "ms", bar: "< 100 ms")
  await server.shutdown()
  await directory.closeAll()
  try await ioGroup.shutdownGracefully()
  try await laneGroup.shutdownGracefully()
}

/// Chat messages of 225 bytes from 10,000 viewers.
struct MessageLines {
  let count: Int
  let bytes: [UInt8]
  /// The offset of each line, and the end of the last line.
  private let starts: [Int]

  /// Returns the bytes of some lines.
  func range(_ lines: Range<Int>) -> Range<Int> {
    starts[lines.lowerBound]..<starts[lines.upperBound]
  }

  init(count: Int) {
    self.count = count
    var bytes: [UInt8] = []
    var starts = [0]
    bytes.reserveCapacity(count * 226)
    for index in 0..<count {
      let user = index &* 7919 % 10_000
      var line =
        #"{"type":"chat.message","room":"bench","id":"m\#(index)","ts":\#(1_700_000_000_000 + index / 100),"user":{"id":"u\#(user)","name":"viewer \#(user)"},"text":""#
      let fill = max(1, 225 - line.utf8.count - 2)
      line += String(repeating: "hello there, ", count: fill / 13 + 1).prefix(fill) + "\"}\n"
      bytes += line.utf8
      starts.append(bytes.count)
    }
    self.bytes = bytes
    self.starts = starts
  }
}

/// Writes `bytes` several times and waits for the answer to a sync. Returns the time in
/// nanoseconds.
private func sendAndSync(_ bytes: [UInt8], times: Int, to path: String) throws -> UInt64 {
  let socket = try BenchmarkSocket(path: path)
  let start = Harness.now()
  for _ in 0..<times { try socket.send(bytes) }
  try socket.sync()
  return Harness.now() - start
}
