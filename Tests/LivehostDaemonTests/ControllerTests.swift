import ControlInterface
import Foundation
import HostScreen
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import RateLimiting
import Recordings
import Rooms
import TestSupport
import Testing
import WireFormats

@Suite(.timeLimit(.minutes(1))) struct ControllerTests {
  private let home = TemporaryDirectory()

  private let again = RoomName("again")!

  private func slide(_ value: Double, _ phase: Slider.Phase = .end) -> LiveEvent {
    LiveEvent(
      timestamp: 1_000,
      payload: .control(.slider(Slider(control: "zoom", phase: phase, value: value))))
  }

  private func effects(_ lane: HostLane, _ room: RoomName) async -> Int? {
    await lane.metrics().first { $0.room == room.description }?.effects
  }

  private func panel(_ lane: HostLane, _ room: RoomName = .main) async throws -> ControlReport {
    try #require(await lane.report(room)?.features.control)
  }

  @Test(arguments: [FrameClock.event, .arrival])
  func `a replay repeats the outcomes of requests and sends no request`(
    clock: FrameClock
  ) async throws {
    var settings = RoomSettings()
    settings.requestTimeout = .milliseconds(20)
    let studio = try Studio(settings: settings)
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let control = studio.control
    let controller = await ControllerClient(control, studio.lane)
    var patient = settings
    patient.requestTimeout = .seconds(3_600)
    studio.lane.postSettings(patient)

    _ = await studio.send([slide(0.2)], to: .main, clock: clock)
    var request = try #require(try await controller.next().request)
    #expect(request.value == 0.2)
    try await control.reportOutcome(request.identifier, .confirmed)
    #expect(try await panel(studio.lane).values == ["zoom": 0.2])
    _ = await studio.send([slide(0.4)], to: .main, clock: clock)
    request = try #require(try await controller.next().request)
    try await control.reportOutcome(request.identifier, .refused(reason: "locked"))
    #expect(try await panel(studio.lane).failures == ["zoom": "locked"])
    // This request times out.
    studio.lane.postSettings(settings)
    let silent = try await control.act(.control(.set(control: "zoom", value: 0.6)), in: "main")
    #expect(silent == HostReply(value: 0.2, outcome: .refused, reason: "no answer"))
    #expect(try await controller.next().request?.value == 0.6)
    #expect(try await controller.next().withdrawn == "main/3")
    // This request is lost with its controller, and a request to the next controller stays pending.
    studio.lane.postSettings(patient)
    _ = await studio.send([slide(0.7)], to: .main, clock: clock)
    await controller.leave()
    #expect(try await panel(studio.lane).failures == ["zoom": "the surface left"])
    let second = await ControllerClient(control, studio.lane)
    _ = await studio.send([slide(0.8)], to: .main, clock: clock)
    let live = try await panel(studio.lane)
    #expect(live.pending == ["zoom": 0.8])
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(await effects(studio.lane, .main) == 14, "including the four effects of the recorder")

    let replay = try await studio.replay(recording.recording, into: again)
    #expect(replay.digest == recording.digest && replay.digest != "")
    #expect(await effects(studio.lane, again) == 0)
    // Requests that are pending at the end of the recording fail.
    var end = live
    (end.pending, end.failures) = (nil, ["zoom": "the surface left"])
    #expect(try await panel(studio.lane, again) == end)
    await second.leave()
    try await studio.end()
  }

  @Test func `pending requests continue after the daemon was killed, with or without a recording`()
    async throws
  {
    for isRecorded in [false, true] {
      let path = "\(home.path)/\(isRecorded)"
      let first = try KeptRooms(in: path)
      _ = try first.directory.open(.main)
      if isRecorded { _ = try await first.recordings.start(.main, on: first.lane) }
      _ = await first.lane.act(
        .control(.controller(.began(controller: 1, controls: nil))), in: .main)
      await first.send(slide(0.3))
      await first.send(slide(0.5))
      let before = try await panel(first.lane)
      #expect(before.pending == ["zoom": 0.5])
      let copy = try first.kill()
      try await first.end()

      let second = try KeptRooms(in: copy)
      await second.restore()
      #expect(try await panel(second.lane) == before)
      #expect(await effects(second.lane, .main) == 2, "a request and its time-out, of two requests")
      // A value that no controller handles is applied immediately and voids the request.
      await second.send(slide(0.6))
      let after = try await panel(second.lane)
      #expect(after.values == ["zoom": 0.6] && after.pending == nil)
      let last = try second.kill()
      try await second.end()

      let third = try KeptRooms(in: last)
      await third.restore()
      #expect(try await panel(third.lane) == after)
      #expect(await effects(third.lane, .main) == 0)
      try await third.end()
    }
  }

  @Test
  func `a host action on an external recorder is a request, which a replay does not send again`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let control = studio.control
    await #expect(throws: ControlError.noSurface(room: "main", control: "recorder")) {
      _ = try await control.act(.control(.record(.start)), in: "main")
    }
    let controller = await ControllerClient(control, studio.lane, controls: ["recorder"])
    let asked = Task { try await control.act(.control(.record(.start)), in: "main") }
    let request = try #require(try await controller.next().request)
    #expect(request.kind == .startRecording && request.control == nil)
    try await control.reportOutcome(request.identifier, .confirmed)
    #expect(try await asked.value == HostReply(outcome: .confirmed))
    // The opposite request voids the pending request.
    let paused = Task { try await control.act(.control(.record(.pause)), in: "main") }
    let first = try #require(try await controller.next().request)
    #expect(first.kind == .pauseRecording)
    let stopped = Task { try await control.act(.control(.record(.stop)), in: "main") }
    #expect(try await controller.next().withdrawn == first.identifier)
    let second = try #require(try await controller.next().request)
    #expect(second.kind == .stopRecording)
    try await control.reportOutcome(second.identifier, .refused(reason: "locked"))
    #expect(try await paused.value.outcome == .refused)
    #expect(try await stopped.value == HostReply(outcome: .refused, reason: "locked"))
    let live = try await panel(studio.lane)
    #expect(live.failures == ["recorder": "locked"])
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let replay = try await studio.replay(recording.recording, into: again)
    #expect(replay.digest == recording.digest && replay.digest != "")
    #expect(try await panel(studio.lane, again).failures == live.failures)
    #expect(await effects(studio.lane, again) == 0)
    await controller.leave()
    try await studio.end()
  }

  @Test func `closing a room ends the calls that wait for the outcome of a request in the room`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = await studio.lane.act(
      .control(.controller(.began(controller: 1, controls: nil))), in: .main)
    let lane = studio.lane
    let waiting = Task {
      await lane.act(.control(.set(control: "zoom", value: 0.5)), in: .main)
    }
    while try await panel(lane).pending == nil { await Task.yield() }
    _ = await studio.directory.close(.main)
    #expect(await waiting.value == .failure(.noSuchRoom("main")))
    try await studio.end()
  }

  @Test
  func `the controllers of a room are limited, and outcomes of unknown requests are refused`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let control = studio.control
    var controllers: [ControllerClient] = []
    for _ in 0..<16 { controllers.append(await ControllerClient(control, studio.lane)) }
    await #expect(throws: ControlError.limitReached("surfaces")) {
      _ = try await control.monitorRequests("main", controls: nil, acts: nil) { _ in }
    }
    for identifier in ["main/1", "other/1", "main", "", "main/x", "/"] {
      await #expect(throws: ControlError.noSuchRequest(identifier)) {
        try await control.reportOutcome(identifier, .confirmed)
      }
    }
    for controller in controllers { await controller.leave() }
    try await studio.end()
  }
}

extension KeptRooms {
  /// Sends an event to `main` and waits until it is on disk.
  fileprivate func send(_ event: LiveEvent) async {
    _ = await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: .main, events: [event],
          receipt: DeliveryReceipt { continuation.resume(returning: ($0, $1)) }))
    }
  }
}
