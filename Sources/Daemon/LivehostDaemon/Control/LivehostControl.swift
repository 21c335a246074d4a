package import ControlInterface
import HostScreen
package import Ingest
package import JSON
package import LiveEvents
import NIOCore
package import Prometheus
import Recordings
package import Rooms
import Varlink
import WireFormats

/// The daemon's implementation of `io.livehost.Control`.
package struct LivehostControl: ControlService {
  private let directory: RoomDirectory
  private let router: EventRouter
  private let status: DaemonStatus
  package let hangs: HangFeed
  private let simulations: Simulations
  private let recordings: RoomRecordings
  private let tasks: RoomTasks
  private let metrics: DaemonMetrics
  private let ingest: @Sendable () -> IngestServer.Statistics

  package init(
    directory: RoomDirectory, router: EventRouter, status: DaemonStatus,
    hangs: HangFeed = HangFeed(), simulations: Simulations, recordings: RoomRecordings,
    tasks: RoomTasks, metrics: DaemonMetrics = DaemonMetrics(),
    ingest: @escaping @Sendable () -> IngestServer.Statistics = { IngestServer.Statistics() }
  ) {
    self.directory = directory
    self.router = router
    self.status = status
    self.hangs = hangs
    self.simulations = simulations
    self.recordings = recordings
    self.tasks = tasks
    self.metrics = metrics
    self.ingest = ingest
  }

  private func counts() async -> EventCounts {
    var counts = router.unroutableCounts
    for lane in directory.lanes { counts.add(await lane.counts()) }
    return counts
  }

  /// Records the current number of received events, from which the status computes a rate.
  package func countReceived() async { status.addReceived(await counts().received) }

  package func getStatus() async throws -> StatusReport {
    var hibernated = 0
    for lane in directory.lanes { hibernated += await lane.hibernatedCount() }
    return status.report(
      counts: await counts(), rooms: directory.count, hibernatedRooms: hibernated,
      lanes: directory.lanes, hangs: hangs)
  }

  package func getMetrics() async throws -> [MetricFamily] {
    var readings = DaemonMetrics.Readings(status: try await getStatus())
    // Lanes are visited one after another, because a scrape is not urgent. Each lane is occupied
    // only while its own rooms are read.
    for lane in directory.lanes {
      readings.rooms += await lane.metrics()
      readings.effectSlices.merge(lane.work?.longestSlicesByEffect ?? [:]) { max($0, $1) }
    }
    readings.ingest = ingest()
    readings.recordings = recordings.activeCount
    readings.damagedRecordings = recordings.damagedCount
    readings.tasks = tasks.reports.count
    return metrics.families(readings)
  }

  package func listRooms() async throws -> [RoomSummary] {
    var rooms: [RoomSummary] = []
    for lane in directory.lanes { rooms += await lane.summaries() }
    return rooms.sorted { $0.room < $1.room }
  }

  package func openRoom(_ room: String) async throws { try await openRoom(room, at: nil) }

  /// Opens a room and saves it, so that it is restored after a crash. If the room has already
  /// received the batch at `position`, the call is a repetition and succeeds although the room is
  /// open. `position` is `nil` for calls of clients.
  func openRoom(_ room: String, at position: BatchPosition?) async throws {
    let name = try Self.name(room)
    let lane: HostLane
    do throws(RoomDirectory.Refusal) {
      lane = try directory.open(name)
    } catch {
      switch error {
      case .exists:
        guard let position, let open = directory.lane(of: name),
          await open.visit(name, { $0?.known.holds(position) == true })
        else { throw ControlError.roomExists(room) }
        return try await open.save(name)
      case .tooMany: throw ControlError.limitReached("rooms")
      case .closing: throw ControlError.busy
      }
    }
    if let position { _ = await lane.visit(name) { $0?.accept(position) } }
    // The call returns only after the room is on disk, so that it survives a crash.
    try await lane.save(name)
  }

  package func closeRoom(_ room: String) async throws {
    var failure: String?
    guard await directory.close(try Self.name(room), onFailure: { failure = $0 }) else {
      throw ControlError.noSuchRoom(room)
    }
    if let failure { throw ControlError.recordingFailed(room: room, reason: failure) }
  }

  package func getRoom(_ room: String, features: Set<Feature>?) async throws -> RoomReport {
    try await answer(room) { lane, name in await lane.report(name, features: features) }
  }

  package func listSources(_ room: String?) async throws -> [SourceReport] {
    if let room {
      return try await answer(room) { lane, name in await lane.sources(of: name) }
    }
    var sources: [String: [SourceReport]] = [:]
    for lane in directory.lanes { sources.merge(await lane.sources()) { $0 + $1 } }
    return sources.sorted { $0.key < $1.key }.flatMap(\.value)
  }

  package func getPositions(_ room: String) async throws -> [String: Int] {
    try await answer(room) { lane, name in await lane.positions(of: name) }
  }

  package func roomFeed(_ room: String) async throws -> RoomFeed {
    try await answer(room) { lane, name in await lane.feeds(name)?.room }
  }

  package func act(_ act: LiveEvent.Payload, in room: String) async throws -> HostReply {
    try await answer(room) { lane, name in try await lane.act(act, in: name).get() }
  }

  package func message(
    numbered number: Int, in room: String
  ) async throws -> FoundMessage {
    let found = try await answer(room) { lane, name in
      await lane.visit(name) { room in room.map { $0.screen.message(numbered: number) } }
    }
    guard let found else { throw ControlError.noSuchMessage(room: room, message: "\(number)") }
    return found
  }

  package func monitorRequests(
    _ room: String, controls: [Text]?, acts: OfferedActs?,
    reply: @escaping @Sendable (MonitorRequestsReply) async throws -> Void
  ) async throws -> MonitorRequestsReply {
    let controls = controls?.map { String($0) }
    return try await answer(room) { lane, name in
      let added = await lane.visit(name) { $0?.addController(controls: controls, acts: acts) }
      guard let connection = try added?.get() else { return nil }
      do {
        while true {
          for message in try await connection.feed.next(for: connection.number) {
            try await reply(MonitorRequestsReply(message, room: name))
          }
        }
      } catch {
        await lane.visit(name) { $0?.removeController(connection) }
        throw error
      }
    }
  }

  package func reportOutcome(_ identifier: String, _ outcome: RequestOutcome) async throws {
    guard let request = RequestIdentifier(identifier), let lane = directory.lane(of: request.room),
      try await lane.report(outcome, of: request)
    else { throw ControlError.noSuchRequest(String(identifier.prefix(EventLimits.nameLength))) }
  }

  package func explain(room: String, view: String) async throws -> Explanation {
    let view = try Self.checked(view, "view")
    return try await answer(room) { lane, name in try await lane.explain(view, of: name) }
  }

  package func screenFeed(_ room: String) async throws -> RoomFeed {
    try await answer(room) { lane, name in await lane.feeds(name)?.screen }
  }

  package func simulate(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply {
    try await simulations.run(request, progress: progress)
  }

  package func startRecording(_ room: String, retries: Bool) async throws -> RecordingReport {
    try await answer(room) { lane, name in
      try await recordings.start(name, on: lane, retries: retries)
    }
  }

  package func pauseRecording(_ room: String) async throws -> RecordingReport {
    try await answer(room) { lane, name in try await recordings.pause(name, on: lane) }
  }

  package func resumeRecording(_ room: String) async throws -> RecordingReport {
    try await answer(room) { lane, name in try await recordings.resume(name, on: lane) }
  }

  package func stopRecording(_ room: String) async throws -> RecordingReport {
    try await answer(room) { lane, name in try await recordings.stop(name, on: lane) }
  }

  package func listRecordings(
    _ room: String?, before: String?
  ) async throws -> ListRecordingsReply {
    let before = try before.map { name throws(ServiceError) in try Self.checked(name, "before") }
    guard let room else { return try await recordings.list(nil, before: before) }
    // No room can have an invalid name, so no recording matches.
    guard let name = RoomName(room) else { return ListRecordingsReply() }
    return try await recordings.list(name, before: before)
  }

  package func deleteRecording(_ recording: String) async throws -> RecordingReport {
    try await recordings.delete(
      Self.checked(recording, "recording"), because: .request, in: directory)
  }

  package func verifyRecordings(
    _ recording: String?, room: String?,
    reply: @escaping @Sendable (VerifyRecordingsReply) async throws -> Void
  ) async throws {
    if let recording { _ = try Self.checked(recording, "recording") }
    // No room can have an invalid name, so no recording matches.
    if let room, RoomName(room) == nil { return }
    try await tasks.verify(recording, room: room.flatMap(RoomName.init), reply: reply)
  }

  package func startTask(
    _ request: StartTaskRequest, reply: @escaping @Sendable (TaskReply) async throws -> Void,
    progress: @escaping @Sendable (TaskReply) -> Void
  ) async throws -> TaskReply {
    if let recording = request.recording { _ = try Self.checked(recording, "recording") }
    if let room = request.room { _ = try Self.checked(room, "room") }
    return try await tasks.run(request, reply: reply, progress: progress)
  }

  package func listTasks() async throws -> [TaskReport] { tasks.reports }

  package func cancelTask(_ task: String) async throws {
    try tasks.cancel(Self.checked(task, "task"))
  }

  package func sendEvents(room: String?, _ events: [JSONValue]) async throws -> SendEventsReply {
    var decoder = SentEvents(
      fallback: try room.map(Self.name) ?? .main, arrival: IngestConfiguration.systemTime())
    for (index, event) in events.enumerated() {
      do throws(SentEvents.Refusal) {
        try decoder.add(event.serialized())
      } catch {
        throw ControlError.invalidEvent(
          index: index, reason: error.reason.rawValue, fault: error.fault)
      }
    }
    var rejected = 0
    var lost: ControlError?
    // Opens all rooms before any event is applied, so that a refused call applies nothing.
    let lanes = try decoder.batches.map { batch throws(ControlError) in
      guard let lane = directory.laneOpening(batch.room) else { throw .limitReached("rooms") }
      return lane
    }
    for (lane, batch) in zip(lanes, decoder.batches) {
      let outcome = await withCheckedContinuation { continuation in
        lane.post(
          RoomDelivery(
            room: batch.room, events: batch.events,
            receipt: DeliveryReceipt { continuation.resume(returning: (rejected: $0, failure: $1)) }
          ))
      }
      rejected += outcome.rejected
      if let failure = outcome.failure {
        lost = lost ?? .recordingFailed(room: batch.room.description, reason: failure)
      }
    }
    // All events were applied, but some of them were not written to disk.
    if let lost { throw lost }
    return SendEventsReply(received: events.count, rejected: rejected)
  }

  /// Returns the answer of a room's lane. Throws ``ControlError/noSuchRoom(_:)`` if the room is not
  /// open, or if `ask` returns `nil` because the room was closed meanwhile.
  private func answer<R>(
    _ room: String, _ ask: (HostLane, RoomName) async throws -> R?
  ) async throws -> R {
    let name = try Self.name(room)
    guard let lane = directory.lane(of: name), let answer = try await ask(lane, name) else {
      throw ControlError.noSuchRoom(room)
    }
    return answer
  }

  /// Returns an identifier if it is short enough for a cheap comparison as text; otherwise throws.
  private static func checked(
    _ identifier: String, _ parameter: String
  ) throws(ServiceError) -> String {
    guard identifier.utf8.count <= EventLimits.nameLength else {
      throw .invalidParameter(parameter)
    }
    return identifier
  }

  private static func name(_ room: String) throws(ServiceError) -> RoomName {
    guard let name = RoomName(room) else { throw .invalidParameter("room") }
    return name
  }
}
