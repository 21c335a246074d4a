import ControlInterface
import HostScreen
import Ingest
import LiveEvents
import NIOCore
import NIOPosix
import RateLimiting
import Rooms
import Synchronization
import Testing
import Throttling
import WireFormats

/// Changes to a room that do not come from its event source: setting controls, changing policies.
@Suite struct DrivingTests {
  private struct Driven {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let lane: HostLane
    let directory: RoomDirectory
    let committed = Committed()

    init() throws {
      let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
      let committed = committed
      lane = HostLane(
        index: 0, eventLoop: loop, settings: RoomSettings(),
        observer: { room, event in
          guard case .committed(let control, let value) = event else { return }
          committed.record("\(room) \(control) \(value)")
        })
      directory = RoomDirectory(lanes: [lane], maximumRooms: 4)
      _ = try directory.open(.main)
    }

    func send(_ payload: LiveEvent.Payload, clock: FrameClock = .event) async {
      _ = await withCheckedContinuation { continuation in
        lane.post(
          RoomDelivery(
            room: .main, events: [LiveEvent(timestamp: 0, payload: payload)], clock: clock,
            receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) }))
      }
    }

    func end() async throws {
      await directory.closeAll()
      try await group.shutdownGracefully()
    }
  }

  private final class Committed: Sendable {
    private let lines = Mutex<[String]>([])
    func record(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  @Test func `a control set by a call is shown, and reported as committed`() async throws {
    let driven = try Driven()
    let set = await driven.lane.act(.control(.set(control: "zoom", value: 0.25)), in: .main)
    #expect(set == .success(HostReply(value: 0.25)))
    await driven.send(.control(.slider(Slider(control: "mic", phase: .begin, value: 0.1))))
    await driven.send(.control(.slider(Slider(control: "mic", phase: .change, value: 0.2))))
    #expect(driven.committed.all == ["main zoom 0.25"])
    // Another client sets the value during a drag; the final value of the drag wins.
    _ = await driven.lane.act(.control(.set(control: "mic", value: 0.9)), in: .main)
    await driven.send(.control(.slider(Slider(control: "mic", phase: .end, value: 0.3))))
    let report = try #require(await driven.lane.report(.main))
    #expect(report.features.control?.values == ["zoom": 0.25, "mic": 0.3])
    #expect(report.features.control?.committed == 3)
    #expect(driven.committed.all == ["main zoom 0.25", "main mic 0.9", "main mic 0.3"])
    // Setting a control does not count as an event.
    #expect(report.counters.received == 3)
    try await driven.end()
  }

  @Test func `a switch can be set or toggled, and ending the stream asks for a confirmation first`()
    async throws
  {
    let driven = try Driven()
    await driven.send(.stream(.live))
    #expect(
      await driven.lane.act(.control(.tap(control: "camera", on: nil)), in: .main)
        == .success(HostReply(on: true)))
    #expect(
      await driven.lane.act(.control(.tap(control: "camera", on: false)), in: .main)
        == .success(HostReply(on: false)))
    #expect(
      await driven.lane.act(.control(.tap(control: "endStream", on: true)), in: .main)
        == .success(HostReply()))
    #expect(await driven.lane.report(.main)?.phase == .live)
    _ = await driven.lane.act(.control(.tap(control: "endStream", on: true)), in: .main)
    #expect(await driven.lane.report(.main)?.phase == .ended)
    try await driven.end()
  }

  @Test func `only open rooms have controls, and their number is limited by the capacity`()
    async throws
  {
    let driven = try Driven()
    let other = try #require(RoomName("other"))
    #expect(
      await driven.lane.act(.control(.set(control: "zoom", value: 1)), in: other)
        == .failure(.noSuchRoom("other")))
    for number in 0..<256 {
      _ = await driven.lane.act(
        .control(.set(control: Text("slider \(number)"), value: 1)), in: .main)
    }
    #expect(
      await driven.lane.act(.control(.set(control: "zoom", value: 1)), in: .main)
        == .failure(.limitReached("controls")))
    #expect(
      await driven.lane.act(.control(.set(control: "slider 7", value: 0)), in: .main)
        == .success(HostReply(value: 0)))
    try await driven.end()
  }

  @Test func `new throttle policies apply to open rooms and to rooms that are opened later`()
    async throws
  {
    let driven = try Driven()
    var settings = RoomSettings()
    try settings.throttling.set(.chat, PolicyDescription(.keepAll, interval: .seconds(3_000)))
    driven.lane.postSettings(settings)
    let later = try #require(RoomName("later"))
    _ = try driven.directory.open(later)
    for room in [RoomName.main, later] {
      let message = ChatMessage(id: "m", userID: "u", userName: "U", text: "t")
      driven.lane.post(
        RoomDelivery(
          room: room, events: [LiveEvent(timestamp: 0, payload: .chat(.message(message)))],
          clock: .arrival))
      // An earlier turn of the lane may end first.
      while await driven.lane.report(room)?.counters.received != 1 { await Task.yield() }
      #expect(await driven.lane.report(room)?.counters.pending == 1)
    }
    // Closing the room shows the held events.
    await driven.directory.closeAll()
    #expect(await driven.lane.counts().applied == 2)
    try await driven.end()
  }
}
