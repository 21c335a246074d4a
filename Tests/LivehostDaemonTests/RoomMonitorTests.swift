import ControlInterface
import Foundation
import Ingest
import JSON
import LiveEvents
import NIOPosix
import Rooms
import Synchronization
import Testing
import UnixSockets
import Varlink
import WireFormats

/// Monitors of rooms on a lane.
@Suite(.timeLimit(.minutes(1))) struct RoomMonitorTests {
  /// Returns the frames of one second in the room's time, each with an event. A title is never
  /// delayed.
  private static func drawFrames(_ frames: Range<Int>, of second: Int, on lane: HostLane) async {
    let start = 1_700_000_000_000 + Timestamp(second) * 1_000
    let events = frames.map { frame in
      let time = start + Timestamp(frame * 1_000 / 60)
      return LiveEvent(timestamp: time, payload: .header(.title(Text("\(second * 60 + frame)"))))
    }
    _ = await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: .main, events: events, clock: .event,
          receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) }))
    }
  }

  @Test
  func `a monitor at 1 Hz of a room with 60 frames/s reads once per second, and only the header`()
    async throws
  {
    let studio = try Studio()
    let lane = studio.lane
    try studio.directory.open(.main)
    let sleeps = Mutex(0)
    // Time passes only while the monitor sleeps: nearly a second, then a frame or two.
    let server = try await studio.serve { duration in
      let sleep = sleeps.withLock { sleeps in
        defer { sleeps += 1 }
        return sleeps
      }
      let second = sleep / 2 + 1
      guard second <= 5 else { throw CancellationError() }
      if sleep.isMultiple(of: 2) {
        #expect(duration == .milliseconds(980))
        await Self.drawFrames(0..<58, of: second, on: lane)
      } else {
        #expect(duration == .milliseconds(20))
        await Self.drawFrames(58..<60, of: second, on: lane)
      }
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
    #expect(feed.readCount == 6, "one read for the first state and one per second")
    let frames = try #require(await lane.report(.main)).frames - framesBefore
    // The end of a delivery is drawn immediately and uses the next frame. The frame of the last
    // event is not due yet.
    #expect(frames >= 5 * 59 - 1)
    await server.shutdown()
    try await studio.end()
  }

  @Test func `closing a room ends its monitors`() async throws {
    let studio = try Studio()
    try studio.directory.open(.main)
    let server = try await studio.serve { _ in }
    var states = try await ControlClient.connect(path: studio.controlSocket)
      .monitorRoom("main").makeAsyncIterator()
    _ = try #require(try await states.next())
    #expect(await studio.directory.close(.main))
    do {
      // The state of the last frame may arrive before the end.
      while try await states.next() != nil {}
      Issue.record("the monitor ended without an error")
    } catch {
      #expect(error == .remote(ControlError.noSuchRoom("main").varlinkError))
    }
    await server.shutdown()
    try await studio.end()
  }
}
