import BenchmarkKit
import Foundation
import Ingest
import NIOCore
import NIOPosix
import UnixSockets

/// Measures the time of an acknowledgement in one room while a hostile sender overloads another
/// room on the same lane. The sender sends the largest messages with jumping time stamps as fast as
/// the daemon reads. The texts almost match the room's search terms.
func fairnessBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("ack.p99.beside") else { return }
  FileHandle.standardError.write(Data("measuring ack.p99.beside\n".utf8))
  let served = try await ControlledLane("fair", monitors: 1)
  let ioGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let path = served.path + "-ingest"
  let server = try await IngestServer.start(
    on: ListeningSocket.bind(path: path), group: ioGroup, sink: served.router)
  let sender = try Acknowledged(path: path)
  _ = try sender.p99(of: 100)
  let samples = 300
  var quiet: [Double] = []
  var ratios: [Double] = []
  for _ in 0..<3 {
    let alone = try sender.p99(of: samples)
    let flood = try Flood(path: path)
    let beside = try sender.p99(of: samples)
    flood.end()
    quiet.append(Double(alone) / 1_000)
    ratios.append(Double(beside) / Double(alone))
  }
  harness.report(
    "ack.p99", Harness.median(quiet), "us",
    bar: "with the frame that shows the message: that is up to 16,667 us later")
  harness.report("ack.p99.beside", Harness.median(ratios), "x", bar: "<= 2 x ack.p99")
  await server.shutdown()
  try await served.stop()
  try await ioGroup.shutdownGracefully()
}

/// A sender that waits for the acknowledgement of each message.
private final class Acknowledged {
  private let socket: BenchmarkSocket
  private var sent = 0

  init(path: String) throws { socket = try BenchmarkSocket(path: path) }

  /// Returns the 99th percentile of the times from a message to its acknowledgement, in
  /// nanoseconds.
  func p99(of count: Int) throws -> UInt64 {
    var times: [UInt64] = []
    for _ in 0..<count {
      // Sends at the rate of human chat, so the room is idle in between.
      Harness.wait(until: Harness.now() + 2_000_000)
      sent += 1
      let line =
        #"{"type":"chat.message","room":"quiet","id":"\#(sent)","user":{"id":"u","name":"n"},"text":"t"}"#
      let start = Harness.now()
      try socket.send(Array((line + "\n").utf8))
      try socket.sync()
      times.append(Harness.now() - start)
    }
    return times.sorted()[count * 99 / 100]
  }
}

/// A connection to which a dedicated thread writes continuously.
private final class Flood: @unchecked Sendable {
  private let socket: BenchmarkSocket
  private let ended = DispatchSemaphore(value: 0)
  private static let text = String(repeating: "@", count: 60_000)

  init(path: String) throws {
    socket = try BenchmarkSocket(path: path)
    let names = (0..<32).map { #""\#(String(repeating: "@", count: 254 - $0))x""# }
    let word = String(repeating: "@", count: 255) + "x"
    let settings = [
      #"{"type":"options","clock":"event"}"#,
      #"{"type":"host.highlight","room":"loud","names":[\#(names.joined(separator: ","))]}"#,
      #"{"type":"host.filter","room":"loud","words":"\#(word)"}"#,
    ]
    try socket.send(Array(settings.map { $0 + "\n" }.joined().utf8))
    // Each flood sends new messages: repeated ones would be rejected as duplicates and cost little.
    let run = UInt64.random(in: 0...UInt64.max)
    Thread.detachNewThread { [self] in
      var number = 0
      while (try? socket.send(Self.line(number, of: run))) != nil { number += 1 }
      ended.signal()
    }
  }

  private static func line(_ number: Int, of run: UInt64) -> [UInt8] {
    [UInt8](
      (#"{"type":"chat.message","room":"loud","ts":\#(1_700_000_000_000 + number % 20 * 65_000),"#
        + #""id":"\#(run)-\#(number)","user":{"id":"u\#(number % 20)","name":"n"},"text":"\#(text)"}"#
        + "\n").utf8)
  }

  /// Returns once its thread has ended.
  func end() {
    socket.shutDown()
    ended.wait()
  }
}
