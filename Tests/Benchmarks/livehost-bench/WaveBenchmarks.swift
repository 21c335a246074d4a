import BenchmarkKit
import ControlInterface
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Rooms
import Synchronization
import UnixSockets
import WireFormats

/// Measures the cost of the live chat analysis for a room under 100,000 messages a second: the
/// delay of events from the socket, alternately with and without the analysis, the delay of other
/// effects, and the long turns of the lane.
func waveBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("waves") else { return }
  FileHandle.standardError.write(Data("measuring waves\n".utf8))
  let load = try await BurstLoad()
  var (without, with): ([Double], [Double]) = ([], [])
  var (results, searched, starts): ([Double], [Double], [Double]) = ([], [], [])
  // The first rounds grow tables and buffers.
  _ = try await load.run(searching: false)
  _ = try await load.run(searching: true)
  for _ in 0..<5 {
    without.append(try await load.run(searching: false).latency)
    let figures = try await load.run(searching: true)
    with.append(figures.latency)
    results.append(figures.results)
    searched.append(figures.searched)
    starts.append(figures.effectStart)
  }
  let (held, longest) = (load.heldTurns, load.longestTurn)
  let slice = load.longestSlice
  try await load.end()
  harness.report("waves.latency.without", Harness.median(without), "ms p99")
  harness.report("waves.latency.with", Harness.median(with), "ms p99")
  harness.report(
    "waves.latency", Harness.median(zip(with, without).map { $0 / $1 }), "x", bar: "<= 1.5 x")
  harness.report("waves.results", Harness.median(results), "runs/s", bar: ">= 1 run/s")
  harness.report("waves.searched", Harness.median(searched) * 100, "% of messages")
  harness.report("waves.slice", slice, "ms", bar: "about 1 ms")
  harness.report("waves.start", Harness.median(starts), "ms p99", bar: "< 5 ms")
  harness.report("waves.held", Double(held), "turns busy or blocked", bar: "0")
  harness.report("waves.turn", longest, "ms", bar: "< 100 ms")
}

/// A room, its socket, and a sender of 100 messages per millisecond.
private final class BurstLoad {
  struct Figures {
    /// The 99th percentile of the latency of events that throttles do not hold, from the time at
    /// which an event was due to its application, in milliseconds.
    var latency: Double
    /// The number of searches per second.
    var results: Double
    /// The share of messages that were analysed.
    var searched: Double
    /// The 99th percentile of the start delay of other effects on the shared pool, in milliseconds.
    var effectStart: Double
  }

  private final class Current: Sendable {
    let value = Mutex(Probe())
  }

  /// The number of long turns caused by the lane itself.
  private final class Held: Sendable {
    let count = Atomic<Int>(0)
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
  private let monitor: HangMonitor
  private let held: Held
  /// The result of the current round.
  private let probe: Current
  /// The events to send in each millisecond.
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
    let held = Held()
    self.held = held
    monitor = try HangMonitor([lane]) { _, finding in
      switch finding.reason {
      case .busy, .blocked: held.count.add(1, ordering: .relaxed)
      case .descheduled: break
      }
    }
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

  /// The longest processor time that a search used without yielding, in milliseconds.
  var longestSlice: Double { Double(executor.longestSliceNanoseconds) / 1e6 }

  var heldTurns: Int { held.count.load(ordering: .relaxed) }
  var longestTurn: Double { Double(lane.meter.longestNanoseconds) / 1e6 }

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
    // The other effects run even in rounds without the analysis, so that both kinds of round have
    // the same load.
    let effects = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      EffectProbe(figures).ask(for: Self.milliseconds, from: start)
      effects.signal()
    }
    for (millisecond, part) in parts.enumerated() {
      Harness.wait(until: start + UInt64(millisecond) * 1_000_000)
      try socket.send(part)
    }
    try socket.sync()
    effects.wait()
    let seconds = Double(Harness.now() - start) / 1e9
    guard let chat = await lane.report(.main)?.features.chat else { throw POSIXError(.EIO) }
    let runs = await lane.metrics().first { $0.room == "main" }?.effects ?? 0
    _ = await directory.close(.main)
    return Figures(
      latency: figures.figures.latency, results: Double(runs) / seconds,
      searched: 1 - Double(chat.unsearched ?? 0) / Double(chat.total),
      effectStart: figures.figures.effectStart)
  }

  func end() async throws {
    await server.shutdown()
    await directory.closeAll()
    executor.stop()
    monitor.stop()
    try await ioGroup.shutdownGracefully()
    try await laneGroup.shutdownGracefully()
  }
}
