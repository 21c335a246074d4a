import BenchmarkKit
import ControlInterface
import Foundation
import Ingest
import LiveEvents
import Locking
import NIOCore
import Rooms
import SystemSupport
import Varlink
import WireFormats

/// Measures the cost of a header monitor at 10/s for the lane of a busy room: the processor time of
/// the
/// lane's thread for the same seconds of one room, alternately with and without the monitor.
///
/// Two rooms would differ by more than the cost of a monitor because of their memory layout. In
/// rounds without the monitor, the monitor watches an idle room on another lane, because a lane
/// that never waits for a reply has warmer caches.
func monitorCostBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("monitor.header") else { return }
  FileHandle.standardError.write(Data("measuring monitor.header\n".utf8))
  let busy = try await FedRoom("busy")
  let idle = try await FedRoom("idle")
  // Lets tables and the chat's history grow before the measurement.
  for watched in [idle, busy] { _ = try await busy.run(seconds: 20, watching: watched) }
  var control: [Double] = []
  var shares: [Double] = []
  for round in 0..<60 {
    var times: [Bool: Double] = [:]
    for isWatched in round.isMultiple(of: 2) ? [false, true] : [true, false] {
      times[isWatched] = try await busy.run(seconds: 10, watching: isWatched ? busy : idle)
    }
    guard let without = times[false], let with = times[true] else { continue }
    control.append(without / 10 / 1e6)
    shares.append((with / without - 1) * 100)
  }
  try await busy.stop()
  try await idle.stop()
  harness.report(
    "monitor.header.control", Harness.median(control), "ms/s",
    bar: "of the lane, for a room with 1,200 events/s and 60 frames/s that nobody watches")
  harness.report(
    "monitor.header", Harness.median(shares), "%", bar: "<= 2 % more with one 10/s monitor")
}

/// A room whose events are sent in portions at full speed, each for a tenth of a second of the
/// room's own time.
private final class FedRoom {
  private static let room = "bench"
  private let served: ControlledLane
  private let sleep = StepwiseSleep()
  private let feed: RoomFeed
  private var monitor: BenchmarkSocket?
  private var tenths = 0

  init(_ name: String) async throws {
    served = try await ControlledLane(name, monitors: 1, sleep: sleep.sleep)
    guard let name = RoomName(Self.room) else { preconditionFailure() }
    try served.directory.open(name)
    _ = await served.lane.counts()
    guard let feed = await served.lane.feeds(name)?.room else { preconditionFailure() }
    self.feed = feed
  }

  func stop() async throws { try await served.stop() }

  private func watch() async throws {
    sleep.restart()
    let monitor = try BenchmarkSocket(path: served.controlSocket)
    let call =
      #"{"method":"io.livehost.Control.MonitorRoom","more":true,"parameters":"#
      + #"{"room":"\#(Self.room)","features":["header"],"maximumRate":10}}"#
    try monitor.send(Array(call.utf8) + [0])
    try monitor.awaitReply()
    await sleep.begun()
    self.monitor = monitor
  }

  private func stopWatching() async {
    monitor = nil
    while feed.hasMonitors { await Task.yield() }
  }

  /// Returns the processor time of the lane in nanoseconds while the monitor watches this room or
  /// another room.
  func run(seconds: Int, watching watched: FedRoom) async throws -> Double {
    try await watched.watch()
    let start = try await laneTime()
    for _ in 0..<seconds * 10 {
      let events = makeTenth()
      // The monitor reads the room shortly before the end of each tenth of a second.
      await send(events.prefix(96))
      await watched.sleep.endAndAwaitNext()
      await send(events.dropFirst(96))
      if watched !== self { await watched.send(watched.makeTenth().suffix(1)) }
      watched.sleep.end()
      try watched.monitor?.awaitReply()
      await watched.sleep.begun()
    }
    let time = Double(try await laneTime() - start)
    await watched.stopWatching()
    return time
  }

  private func laneTime() async throws -> UInt64 {
    try await served.lane.eventLoop.submit { ThreadClock.nanoseconds() }.get()
  }

  private func makeTenth() -> [LiveEvent] {
    let start = Timestamp(tenths) * 100
    tenths += 1
    var events: [LiveEvent] = []
    for index in 0..<120 {
      let number = tenths * 120 + index
      let payload: LiveEvent.Payload =
        index % 6 == 5
        ? .header(.viewers(count: number))
        : .chat(
          .message(
            ChatMessage(
              id: "m\(number)", userID: "u\(number &* 7919 % 5_000)", userName: "viewer",
              text: "hello there, this is message number \(number)")))
      events.append(
        LiveEvent(
          timestamp: 1_700_000_000_000 + start + Timestamp(index) * 100 / 120, payload: payload))
    }
    return events
  }

  private func send(_ events: ArraySlice<LiveEvent>) async {
    guard let name = RoomName(Self.room) else { return }
    _ = await withCheckedContinuation { continuation in
      served.lane.post(
        RoomDelivery(
          room: name, events: Array(events), clock: .event,
          receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) }))
    }
  }
}

/// A sleep that ends on request.
private final class StepwiseSleep: Sendable {
  private typealias Stream = (
    stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation
  )
  private let streams = Guarded<(beginnings: Stream, ends: Stream)>(
    (AsyncStream.makeStream(), AsyncStream.makeStream()))

  private var beginnings: Stream { streams.withLock { $0.beginnings } }
  private var ends: Stream { streams.withLock { $0.ends } }

  /// Prepares for another sleeper. The streams are new, because cancelling the previous sleeper
  /// ended the old ones.
  func restart() {
    streams.withLock { $0 = (AsyncStream.makeStream(), AsyncStream.makeStream()) }
  }

  @Sendable func sleep(_: Duration) async throws {
    beginnings.continuation.yield()
    for await _ in ends.stream { return }
    throw CancellationError()
  }

  /// Waits until a task sleeps.
  func begun() async { for await _ in beginnings.stream { return } }
  func end() { ends.continuation.yield() }
  func endAndAwaitNext() async {
    end()
    await begun()
  }
}
