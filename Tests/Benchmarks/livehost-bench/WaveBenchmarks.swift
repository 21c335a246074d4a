import BenchmarkKit
import ControlInterface
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Synchronization
import UnixSockets
import WireFormats

/// What the search for waves costs a room under 100,000 messages a second: how late what comes by the socket is
/// applied, with it and without, in turn.
func waveBenchmarks(_ harness: Harness) async throws {
  guard ["waves.latency", "waves.results"].contains(where: harness.isWanted) else { return }
  FileHandle.standardError.write(Data("measuring waves\n".utf8))
  let load = try await WaveLoad()
  var (without, with): ([Double], [Double]) = ([], [])
  var (results, searched): ([Double], [Double]) = ([], [])
  // The first rounds grow tables and buffers.
  _ = try await load.run(searching: false)
  _ = try await load.run(searching: true)
  for _ in 0..<5 {
    without.append(try await load.run(searching: false).latency)
    let figures = try await load.run(searching: true)
    with.append(figures.latency)
    results.append(figures.results)
    searched.append(figures.searched)
  }
  let slice = load.longestSlice
  try await load.end()
  harness.report("waves.latency.without", Harness.median(without), "ms p99")
  harness.report("waves.latency.with", Harness.median(with), "ms p99")
  harness.report(
    "waves.latency", Harness.median(zip(with, without).map { $0 / $1 }), "x", bar: "<= 1.5 x")
  harness.report("waves.results", Harness.median(results), "runs/s", bar: ">= 1 run/s")
  harness.report("waves.searched", Harness.median(searched) * 100, "% of messages")
  harness.report("waves.slice", slice, "ms", bar: "about 1 ms")
}

/// A room, its socket, and a sender of 100 messages each millisecond.
private final class WaveLoad {
  struct Figures {
    /// From the intended sending of what is applied at once to its application, in milliseconds, 99th percentile.
    var latency: Double
    /// Runs of the search per second.
    var results: Double
    /// The share of the messages that were looked at.
    var searched: Double
  }

  private final class Current: Sendable {
    let value = Mutex(Probe())
  }

  private static let milliseconds = 3_000
  private static let perMillisecond = 100

  private let laneGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let ioGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let executor = WorkExecutor(width: max(1, System.coreCount - 1))
  private let lane: HostLane
  private let directory: RoomDirectory
  private let server: IngestServer
  private let path = NSTemporaryDirectory() + "livehost-waves-\(getpid())"
  /// That of the present round.
  private let probe: Current
  /// What is sent in each millisecond.
  private let parts: [[UInt8]]

  init() async throws {
    guard let loop = laneGroup.next() as? any EventLoop & NIOSerialEventLoopExecutor else {
      throw POSIXError(.EINVAL)
    }
    try executor.start()
    let probe = Current()
    self.probe = probe
    lane = HostLane(
      index: 0, eventLoop: loop, settings: RoomSettings(), work: executor,
      observer: { [probe] _, event in
        if case .committed(_, let value) = event { probe.value.withLock { $0 }.applied(value) }
      })
    directory = RoomDirectory(lanes: [lane], maximumRooms: 1)
    server = try await IngestServer.start(
      on: ListeningSocket.bind(path: path), group: ioGroup,
      sink: EventRouter(directory: directory))
    var crowd = ChatCrowd()
    parts = (0..<Self.milliseconds).map { millisecond in
      var bytes: [UInt8] = []
      for _ in 1..<Self.perMillisecond { NativeEncoder.append(crowd.next(), to: &bytes) }
      let slider = Slider(control: "probe", phase: .end, value: Probe.value(of: millisecond))
      NativeEncoder.append(
        LiveEvent(timestamp: 1_700_000_000_000, payload: .control(.slider(slider))), to: &bytes)
      return bytes
    }
  }

  /// The longest time for which a search ran without yielding, in milliseconds on a processor.
  var longestSlice: Double { Double(executor.longestSliceNanoseconds) / 1e6 }

  func run(searching: Bool) async throws -> Figures {
    var settings = RoomSettings()
    settings.analysesChat = searching
    lane.postSettings(settings)
    try directory.open(.main)
    let socket = try BenchmarkSocket(path: path)
    let start = Harness.now() + 1_000_000
    let figures = Probe()
    figures.begin(at: start)
    probe.value.withLock { $0 = figures }
    for (millisecond, part) in parts.enumerated() {
      Harness.wait(until: start + UInt64(millisecond) * 1_000_000)
      try socket.send(part)
    }
    try socket.sync()
    let seconds = Double(Harness.now() - start) / 1e9
    guard let chat = await lane.report(.main)?.features.chat else { throw POSIXError(.EIO) }
    let runs = await lane.metrics().first { $0.room == "main" }?.effects ?? 0
    _ = await directory.close(.main)
    return Figures(
      latency: figures.figures.latency, results: Double(runs) / seconds,
      searched: 1 - Double(chat.unsearched ?? 0) / Double(chat.total))
  }

  func end() async throws {
    await server.shutdown()
    await directory.closeAll()
    executor.stop()
    try await ioGroup.shutdownGracefully()
    try await laneGroup.shutdownGracefully()
  }
}
