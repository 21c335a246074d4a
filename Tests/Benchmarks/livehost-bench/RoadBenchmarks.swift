import BenchmarkKit
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import UnixSockets

/// Socket to applied state: bytes in by the ingest socket, decoded, throttled, reduced and drawn, on one
/// lane, with the real features; acknowledged by `sync`.
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
  var rates: [Double] = []
  var memory: [Int] = []
  for round in 0..<8 {
    let nanoseconds = try sendAndSync(lines.bytes, to: path)
    // The first two rounds grow tables and buffers.
    guard round >= 2 else { continue }
    rates.append(Double(lines.count) / Double(nanoseconds) * 1e9)
    memory.append(DaemonStatus.residentBytes())
  }
  harness.report("road.socket", Harness.median(rates), "events/s", bar: ">= 300000 events/s")
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

/// Chat messages of 225 bytes by 10,000 people.
struct MessageLines {
  let count: Int
  let bytes: [UInt8]

  init(count: Int) {
    self.count = count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 226)
    for index in 0..<count {
      let user = index &* 7919 % 10_000
      var line =
        #"{"type":"chat.message","room":"bench","id":"m\#(index)","ts":\#(1_700_000_000_000 + index / 100),"user":{"id":"u\#(user)","name":"viewer \#(user)"},"text":""#
      let fill = max(1, 225 - line.utf8.count - 2)
      line += String(repeating: "hello there, ", count: fill / 13 + 1).prefix(fill) + "\"}\n"
      bytes += line.utf8
    }
    self.bytes = bytes
  }
}

/// Writes `bytes` in blocks of 64 KiB and waits for the answer to a sync. Returns nanoseconds.
private func sendAndSync(_ bytes: [UInt8], to path: String) throws -> UInt64 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
  let connected = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
  let start = Harness.now()
  for block in [bytes, Array("{\"type\":\"sync\",\"token\":\"b\"}\n".utf8)] {
    try block.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let count = write(
          descriptor, buffer.baseAddress! + sent, min(65_536, buffer.count - sent))
        guard count > 0 else { throw POSIXError(.EPIPE) }
        sent += count
      }
    }
  }
  var answer = [UInt8](repeating: 0, count: 4096)
  guard read(descriptor, &answer, answer.count) > 0 else { throw POSIXError(.EPIPE) }
  return Harness.now() - start
}
