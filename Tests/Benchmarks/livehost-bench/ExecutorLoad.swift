import Analysis
import BenchmarkKit
import Foundation
import Ingest
import LiveEvents
import NIOCore
import NIOPosix
import Rooms

/// A room under 20,000 events a second, with effects on the shared pool and continuous analyses.
final class ExecutorLoad {
  /// Where the analyses run.
  enum Arrangement: String, CaseIterable {
    case own, pool, blocking, reducer

    var about: String {
      switch self {
      case .own: "cores - 1 concurrently, on a dedicated executor"
      case .pool: "one per core on the shared pool, with yields"
      case .blocking: "one per core on the shared pool, without yields"
      case .reducer: "in a reducer"
      }
    }
  }

  struct Figures {
    /// The 99th percentile of the latency of events that throttles do not hold, from the time at
    /// which an event was due to its application.
    var latency = 0.0
    /// The 99th percentile of the delay of messages, counted from the frame that applies them.
    var chatLatency = 0.0
    var longestTurn = 0.0
    var effectStart = 0.0
    var analyses = 0
  }

  private static let milliseconds = 5_000
  private static let perMillisecond = 20
  private static let frame: UInt64 = 16_666_667
  private static let cores = System.coreCount

  private let arrangement: Arrangement
  private let laneGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let lane: HostLane
  private let directory: RoomDirectory
  private let probe: Probe
  private let messages: [WrittenMessage]

  init(_ arrangement: Arrangement) throws {
    self.arrangement = arrangement
    guard let loop = laneGroup.next() as? any EventLoop & NIOSerialEventLoopExecutor else {
      throw POSIXError(.EINVAL)
    }
    let probe = Probe()
    self.probe = probe
    lane = HostLane(
      index: 0, eventLoop: loop, settings: RoomSettings(),
      observer: { _, event in
        if case .committed(_, let value) = event { probe.applied(value) }
      })
    directory = RoomDirectory(lanes: [lane], maximumRooms: 1)
    try directory.open(.main)
    var crowd = ChatCrowd()
    messages = (0..<200_000).compactMap { _ in
      let event = crowd.next()
      guard case .chat(.message(let message)) = event.payload else { return nil }
      return WrittenMessage(timestamp: event.timestamp, message: message)
    }
  }

  func run() async throws -> Figures {
    let isOver = Flag()
    let analyses = try startAnalyses(until: isOver)
    let (lane, probe) = (lane, probe)
    // Uses a dedicated thread, because the pool may have no free thread until the analyses end.
    await onThread { Self.measure(lane, probe, until: isOver) }
    let ended = try await analyses.value
    await directory.closeAll()
    var figures = probe.figures
    figures.longestTurn = Double(lane.meter.longestNanoseconds) / 1e6
    figures.analyses = ended
    try await laneGroup.shutdownGracefully()
    return figures
  }

  private static func measure(_ lane: HostLane, _ probe: Probe, until isOver: Flag) {
    // The measurement begins when the analyses are running.
    Harness.wait(until: Harness.now() + 300_000_000)
    let start = Harness.now() + 1_000_000
    probe.begin(at: start)
    let effectsBegan = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      EffectProbe(probe).ask(for: milliseconds, from: start)
      effectsBegan.signal()
    }
    send(to: lane, probe, from: start)
    // Effects that find no free thread begin only when the analyses end.
    isOver.raise()
    effectsBegan.wait()
  }

  // MARK: Events

  /// Posts each millisecond's events when they are due. If the posting is late, latencies still
  /// count from the time at which it was due.
  private static func send(to lane: HostLane, _ probe: Probe, from start: UInt64) {
    var crowd = ChatCrowd()
    for millisecond in 0..<milliseconds {
      let due = start + UInt64(millisecond) * 1_000_000
      Harness.wait(until: due)
      var events = (1..<perMillisecond).map { _ in crowd.next() }
      events.append(
        LiveEvent(
          timestamp: 0,
          payload: .control(
            .slider(
              Slider(control: "probe", phase: .end, value: Probe.value(of: millisecond))))))
      lane.post(
        RoomDelivery(
          room: .main, events: events,
          receipt: millisecond % 50 == 0
            ? DeliveryReceipt { _, _ in probe.drawn(due: due, frame: frame) }
            : DeliveryReceipt()))
    }
  }

  // MARK: Analyses

  /// Runs one request per core. Each request starts one analysis after another.
  private func startAnalyses(until isOver: Flag) throws -> Task<Int, any Error> {
    switch arrangement {
    case .own:
      let executor = WorkExecutor(width: max(1, Self.cores - 1))
      try executor.start()
      let slots = WorkSlots(count: executor.width)
      return repeated(until: isOver) { kind, messages in
        try await slots.run {
          try await withTaskExecutorPreference(executor) { try await Self.analyze(kind, messages) }
        }
      } then: {
        executor.stop()
      }
    case .pool:
      return repeated(until: isOver) { try await Self.analyze($0, $1) }
    case .blocking:
      return repeated(until: isOver) { try await Self.analyze($0, $1, slice: .max) }
    case .reducer:
      let lane = lane
      return repeated(until: isOver) { kind, messages in
        await withCheckedContinuation { continuation in
          lane.eventLoop.execute {
            lane.meter.measure { AnalysisFeature.reduce(kind, messages) }
            continuation.resume()
          }
        }
      }
    }
  }

  private func repeated(
    until isOver: Flag,
    _ analyze: @escaping @Sendable (AnalysisKind, [WrittenMessage]) async throws -> Void,
    then end: @escaping @Sendable () -> Void = {}
  ) -> Task<Int, any Error> {
    let requests = (0..<Self.cores).map { _ in
      Task.detached { [messages] in
        var ended = 0
        while !isOver.isRaised {
          try await analyze(AnalysisKind.allCases[ended % 3], messages)
          ended += 1
        }
        return ended
      }
    }
    return Task.detached {
      var ended = 0
      for request in requests { ended += try await request.value }
      end()
      return ended
    }
  }

  static func analyze(
    _ kind: AnalysisKind, _ messages: [WrittenMessage], slice: UInt64 = 700_000
  ) async throws {
    keep(
      try await Analysis.analyze(kind, MessageList(messages), sliceNanoseconds: slice) { _, _ in })
  }
}

/// Runs `body` on a new thread.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}
