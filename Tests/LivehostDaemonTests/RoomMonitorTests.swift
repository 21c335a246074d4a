import ControlInterface
import Foundation
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import NIOPosix
import Synchronization
import Testing
import UnixSockets
import Varlink
import WireFormats

/// Monitors of rooms on a lane.
@Suite(.timeLimit(.minutes(1))) struct RoomMonitorTests {
  /// One second in the room's own time, with a frame for each of its 60 events: a title never waits.
  private static func second(_ number: Int, on lane: HostLane) async {
    let start = 1_700_000_000_000 + Timestamp(number) * 1_000
    let events = (0..<60).map { frame in
      let time = start + Timestamp(frame * 1_000 / 60)
      return LiveEvent(timestamp: time, payload: .header(.title(Text("\(number * 60 + frame)"))))
    }
    _ = await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: .main, events: events, clock: .event,
          receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) }))
    }
  }

  @Test
  func `a monitor at 1/s reads a room that draws 60 frames/s once per second, its header alone`()
    async throws
  {
    let studio = try Studio()
    let lane = studio.lane
    try studio.directory.open(.main)
    let seconds = Mutex(0)
    // Time passes only while the monitor sleeps.
    let server = try await studio.serve { duration in
      let second = seconds.withLock { seconds in
        seconds += 1
        return seconds
      }
      #expect(duration == .seconds(1))
      guard second <= 5 else { throw CancellationError() }
      await Self.second(second, on: lane)
    }
    let framesBefore = try #require(await lane.report(.main)).frames
    var states = try await ControlClient.connect(path: studio.controlSocket)
      .monitorRoom("main", features: [.header], maximumRate: 1).makeAsyncIterator()
    _ = try #require(try await states.next())
    let feed = try #require(await lane.feeds(.main)?.room)
    for second in 1...5 {
      let state = try #require(try await states.next())
      #expect(state.reply.patch?["features"]?.objectValue?.keys.sorted() == ["header"])
      let title = state.value["features"]?["header"]?["title"]
      #expect(title == .string("\(second * 60 + 59)"))
    }
    #expect(feed.readCount == 6, "the first state and one for each second")
    let frames = try #require(await lane.report(.main)).frames - framesBefore
    #expect(frames >= 5 * 60 - 1, "that of the last event is not due yet")
    await server.shutdown()
    try await studio.end()
  }

  @Test func `a room that closes ends its monitors`() async throws {
    let studio = try Studio()
    try studio.directory.open(.main)
    let server = try await studio.serve { _ in }
    var states = try await ControlClient.connect(path: studio.controlSocket)
      .monitorRoom("main").makeAsyncIterator()
    _ = try #require(try await states.next())
    #expect(await studio.directory.close(.main))
    do {
      // The state of the last frame may come before.
      while try await states.next() != nil {}
      Issue.record("the monitor ended without an error")
    } catch {
      #expect(error == .remote(ControlError.noSuchRoom("main").varlinkError))
    }
    await server.shutdown()
    try await studio.end()
  }
}
