import BenchmarkKit
import ControlInterface
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import Rooms
import Synchronization
import UnixSockets

/// Measures a busy room with 200 monitors, 10 of which never read: the length of the lane's turns,
/// the
/// age of changes when a monitor receives them, and the cost of monitors that do not read.
///
/// As in the daemon, there is a lane, a thread for the sockets, and real sockets. Readers and
/// senders
/// are threads of this process, so they compete for processors on a small machine.
func monitorBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("monitors") else { return }
  FileHandle.standardError.write(Data("measuring monitors\n".utf8))
  let bench = try await MonitorBench()
  // Lets buffers and the chat's history grow before the measurement.
  _ = try await bench.run(seconds: 2)
  let memory = DaemonStatus.residentBytes()
  let round = try await bench.run(seconds: 6)
  let growth = DaemonStatus.residentBytes() - memory
  try await bench.stop()

  let turns = round.turns.sorted()
  let latencies = round.latencies.sorted()
  func percentile(_ sorted: [UInt64], _ share: Double) -> Double {
    sorted.isEmpty ? .nan : Double(sorted[Int(Double(sorted.count - 1) * share)]) / 1e6
  }
  harness.report("monitors.turn.p50", percentile(turns, 0.5), "ms")
  harness.report("monitors.turn.p99", percentile(turns, 0.99), "ms", bar: "< 8 ms")
  harness.report("monitors.turn.longest", percentile(turns, 1), "ms")
  harness.report("monitors.latency.p50", percentile(latencies, 0.5), "ms")
  harness.report("monitors.latency.p99", percentile(latencies, 0.99), "ms")
  harness.report("monitors.frames", Double(round.frames) / 6, "frames/s", bar: "60 are drawn")
  harness.report(
    "monitors.updates", Double(round.replies) / 6 / Double(MonitorBench.readers), "replies/s",
    bar: "for each of \(MonitorBench.readers) that read")
  harness.report("monitors.bytes", Double(round.bytes) / 6 / 1e6, "MB/s")
  harness.report(
    "monitors.memory.growth", Double(growth) / 1024, "KiB",
    bar: "flat: \(memory >> 20) MiB before, with \(MonitorBench.silent) that never read")
}

private final class MonitorBench {
  static let readers = 190
  static let silent = 10
  private static let room = "bench"

  struct Round {
    var turns: [UInt64] = []
    /// The times from writing an event to reading the reply that contains it, in nanoseconds.
    var latencies: [UInt64] = []
    var replies = 0
    var bytes = 0
    var frames = 0
  }

  private let served: ControlledLane
  private let ingest: IngestServer
  private let turns: Turns
  private var monitors: [Int32] = []

  /// The durations of turns: written by the lane, and read and reset between rounds.
  private final class Turns: Sendable {
    let all = Mutex<[UInt64]>([])
    func record(_ nanoseconds: UInt64) { all.withLock { $0.append(nanoseconds) } }
  }

  init() async throws {
    let turns = Turns()
    self.turns = turns
    let served = try await ControlledLane(
      "monitors", monitors: Self.readers + Self.silent, onTurn: { turns.record($0) })
    self.served = served
    ingest = try await IngestServer.start(
      on: .bind(path: served.path + "-ingest"), group: served.ioGroup, sink: served.router)
    guard let name = RoomName(Self.room) else { preconditionFailure() }
    try served.directory.open(name)
    for _ in 0..<Self.readers + Self.silent { monitors.append(try watch()) }
  }

  func stop() async throws {
    for monitor in monitors { close(monitor) }
    await ingest.shutdown()
    try await served.stop()
  }

  /// Starts a monitor without the client library, and returns its socket.
  private func watch() throws -> Int32 {
    let monitor = try connect(to: served.controlSocket)
    let call =
      #"{"method":"io.livehost.Control.MonitorRoom","more":true,"parameters":{"room":"\#(Self.room)"}}"#
    try write(Array(call.utf8) + [0], to: monitor)
    return monitor
  }

  func run(seconds: Int) async throws -> Round {
    turns.all.withLock { $0 = [] }
    let before = try await frames()
    let readers = Array(monitors.prefix(Self.readers))
    let end = Harness.now() + UInt64(seconds) * 1_000_000_000
    let feeder = Thread { [path = served.path] in try? Self.feed(path + "-ingest", until: end) }
    feeder.start()
    var round = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: Self.read(readers, until: end)) }.start()
    }
    round.turns = turns.all.withLock { $0 }
    round.frames = try await frames() - before
    return round
  }

  private func frames() async throws -> Int {
    guard let name = RoomName(Self.room) else { return 0 }
    return await served.lane.report(name)?.frames ?? 0
  }

  /// A busy room with 1,200 events a second of many kinds, one burst every 5 ms. Every 50 ms, the
  /// room gets a title that contains the time at which it was written.
  private static func feed(_ path: String, until end: UInt64) throws {
    let socket = try connect(to: path)
    defer { close(socket) }
    var number = 0
    while Harness.now() < end {
      var lines = ""
      for _ in 0..<5 {
        number += 1
        let user = number &* 7919 % 5_000
        lines +=
          #"{"type":"chat.message","room":"\#(room)","id":"\#(Harness.now())","user":{"id":"u\#(user)","name":"viewer \#(user)"},"text":"hello there, this is message number \#(number)"}"#
          + "\n"
      }
      lines += #"{"type":"viewers","room":"\#(room)","count":\#(number)}"# + "\n"
      if number % 50 == 0 {
        lines += #"{"type":"title","room":"\#(room)","title":"T\#(Harness.now())"}"# + "\n"
      }
      try write(Array(lines.utf8), to: socket)
      poll(nil, 0, 5)
    }
  }

  /// Reads all replies, as clients do, and searches them for titles.
  private static func read(_ monitors: [Int32], until end: UInt64) -> Round {
    var round = Round()
    var polled = monitors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    let mark = Array(#""title":"T"#.utf8)
    while Harness.now() < end {
      guard poll(&polled, UInt(polled.count), 100) > 0 else { continue }
      for monitor in polled where monitor.revents != 0 {
        let count = recv(monitor.fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { continue }
        let now = Harness.now()
        round.bytes += count
        buffer.withUnsafeBytes { bytes in
          guard let start = bytes.baseAddress else { return }
          var rest = UnsafeRawBufferPointer(start: start, count: count)
          round.replies += rest.count { $0 == 0 }
          // Searches for the last letter of the mark first, because the letter is rare elsewhere.
          while let base = rest.baseAddress, let found = memchr(base, 0x54, rest.count) {
            let offset = UnsafeRawPointer(found) - base + 1
            let isMark = rest.prefix(offset).suffix(mark.count).elementsEqual(mark)
            rest = UnsafeRawBufferPointer(rebasing: rest[offset...])
            guard isMark else { continue }
            // Skips a number that continues after the end of the block.
            let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
            guard digits.count < rest.count,
              let sent = UInt64(String(decoding: digits, as: UTF8.self)), sent < now
            else { continue }
            round.latencies.append(now - sent)
          }
        }
      }
    }
    return round
  }
}

private func connect(to path: String) throws -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
  guard try UnixAddress(path).call(Glibc.connect, descriptor) == 0 else {
    throw POSIXError(.ECONNREFUSED)
  }
  return descriptor
}

private func write(_ bytes: [UInt8], to descriptor: Int32) throws {
  try bytes.withUnsafeBytes { buffer in
    var sent = 0
    while sent < buffer.count {
      let count = Glibc.write(descriptor, buffer.baseAddress! + sent, buffer.count - sent)
      guard count > 0 else { throw POSIXError(.EPIPE) }
      sent += count
    }
  }
}
