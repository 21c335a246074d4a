package import NIOCore
package import UnixSockets
package import Varlink
import VarlinkDescription

// The types of the interface, its errors and the calls of `ControlClient` are generated from
// io.livehost.Control.varlink.
extension ControlInterface {
  /// Returns the interface with its handlers, for a `VarlinkServer`.
  ///
  /// - Parameters:
  ///   - mayChange: whether a caller may use ``privilegedMethods``. Other callers receive
  ///     `PermissionDenied`. Calls that are not made over a Unix socket always receive this error.
  ///   - sleep: waits between the replies of a monitor with a maximum rate.
  package static func makeInterface(
    service: some ControlService,
    mayChange: @escaping @Sendable (Peer) -> Bool,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) throws -> Interface {
    var interface = Interface(try InterfaceDescription(parsing: definition))
    interface.authorization = { call in
      guard privilegedMethods.contains(call.method) else { return }
      guard let peer = call.peer, mayChange(peer) else { throw ServiceError.permissionDenied }
    }
    try addReading(to: &interface, service)
    try addChanging(to: &interface, service)
    try addHostActs(to: &interface, service)
    try addRequests(to: &interface, service)
    try addMonitors(
      to: &interface, sleep: sleep,
      room: { room, run in try await run(try await service.roomFeed(room)) },
      screen: { room, run in try await run(try await service.screenFeed(room)) })
    try interface.handleStream("Simulate") { call, request, replies in
      try await simulate(request, service, wantsMore: call.wantsMore, replies)
    }
    try interface.handleStream("StartTask") { call, request, replies in
      try await startTask(request, service, wantsMore: call.wantsMore, replies)
    }
    try interface.handleStream("VerifyRecordings", requiresMore: true) {
      (_, parameters: VerifyRecordingsParameters, replies) in
      try await service.verifyRecordings(parameters.recording, room: parameters.room) {
        try await replies.send($0)
      }
      return VerifyRecordingsReply(percent: 100)
    }
    try interface.handleRawStream("MonitorHangs") { call, replies in
      try await HangMonitoring(feed: service.hangs).run(wantsMore: call.wantsMore, replies)
    }
    return interface
  }

  /// The error for a call from an unprivileged client that exceeds the maximum length.
  package static let callTooLong = ControlError.limitReached("callBytes")

  /// The error for a monitoring call that exceeds the limit on concurrent monitoring calls in
  /// `VarlinkServer.Limits`.
  package static let tooManyMonitors = ControlError.limitReached("monitors")

  private static func addReading(
    to interface: inout Interface, _ service: some ControlService
  ) throws(RegistrationError) {
    try interface.handle("GetStatus") { (_, _: NoParameters) in try await service.getStatus() }
    try interface.handle("GetMetrics") { (_, _: NoParameters) in
      GetMetricsReply(metrics: try await service.getMetrics())
    }
    try interface.handle("ListRooms") { (_, _: NoParameters) in
      ListRoomsReply(rooms: try await service.listRooms())
    }
    try interface.handle("GetRoom") { (_, parameters: GetRoomParameters) in
      try await service.getRoom(parameters.room, features: parameters.feature.map { [$0] })
    }
    try interface.handle("ListSources") { (_, parameters: ListSourcesParameters) in
      ListSourcesReply(sources: try await service.listSources(parameters.room))
    }
    try interface.handle("GetPositions") { (_, parameters: GetPositionsParameters) in
      GetPositionsReply(positions: try await service.getPositions(parameters.room))
    }
    try interface.handle("Explain") { (_, parameters: ExplainParameters) in
      try await service.explain(room: parameters.room, view: parameters.view)
    }
    try interface.handle("ListRecordings") { (_, parameters: ListRecordingsParameters) in
      try await service.listRecordings(parameters.room, before: parameters.before)
    }
    try interface.handle("ListTasks") { (_, _: NoParameters) in
      ListTasksReply(tasks: try await service.listTasks())
    }
    try interface.handle("ListHangs") { (_, parameters: ListHangsParameters) in
      HangsReply(hangs: service.hangs.hangs(since: parameters.since ?? .min))
    }
  }

  private static func addChanging(
    to interface: inout Interface, _ service: some ControlService
  ) throws(RegistrationError) {
    try interface.handle("OpenRoom") { (_, parameters: OpenRoomParameters) in
      try await service.openRoom(parameters.room)
      return NoParameters()
    }
    try interface.handle("CloseRoom") { (_, parameters: CloseRoomParameters) in
      try await service.closeRoom(parameters.room)
      return NoParameters()
    }
    try interface.handle("StartRecording") { (_, parameters: StartRecordingParameters) in
      RecordingReply(
        recording: try await service.startRecording(
          parameters.room, retries: parameters.retry ?? false))
    }
    try interface.handle("PauseRecording") { (_, parameters: PauseRecordingParameters) in
      RecordingReply(recording: try await service.pauseRecording(parameters.room))
    }
    try interface.handle("ResumeRecording") { (_, parameters: ResumeRecordingParameters) in
      RecordingReply(recording: try await service.resumeRecording(parameters.room))
    }
    try interface.handle("StopRecording") { (_, parameters: StopRecordingParameters) in
      RecordingReply(recording: try await service.stopRecording(parameters.room))
    }
    try interface.handle("DeleteRecording") { (_, parameters: DeleteRecordingParameters) in
      RecordingReply(recording: try await service.deleteRecording(parameters.recording))
    }
    try interface.handle("CancelTask") { (_, parameters: CancelTaskParameters) in
      try await service.cancelTask(parameters.task)
      return NoParameters()
    }
    try interface.handle("SendEvents") { (_, parameters: SendEventsParameters) in
      try await service.sendEvents(room: parameters.room, parameters.events)
    }
  }

  /// Runs a simulation. Whenever the client can receive a reply, sends the newest progress and
  /// skips older progress.
  private static func simulate(
    _ request: SimulateRequest, _ service: some ControlService, wantsMore: Bool,
    _ replies: ReplyStream
  ) async throws -> SimulateReply {
    guard wantsMore else { return try await service.simulate(request) { _ in } }
    let (percents, continuation) = AsyncStream.makeStream(
      of: Int.self, bufferingPolicy: .bufferingNewest(1))
    async let result = {
      defer { continuation.finish() }
      return try await service.simulate(request) { continuation.yield($0) }
    }()
    for await percent in percents { try await replies.send(SimulateReply(percent: percent)) }
    var reply = try await result
    // The trace is sent in parts, because it may exceed the length limit of one message.
    for part in reply.removeTraceParts() { try await replies.send(part) }
    return reply
  }

  /// Runs a task. Whenever the client can receive a reply, sends the newest progress and skips
  /// older progress. Sends all parts of the result; each part waits until the client can receive
  /// it.
  private static func startTask(
    _ request: StartTaskRequest, _ service: some ControlService, wantsMore: Bool,
    _ replies: ReplyStream
  ) async throws -> TaskReply {
    if request.kind == .export, !wantsMore { throw ServiceError.expectedMore }
    guard wantsMore else {
      return try await service.startTask(request, reply: { _ in }, progress: { _ in })
    }
    let (news, continuation) = AsyncStream.makeStream(
      of: TaskReply.self, bufferingPolicy: .bufferingNewest(1))
    async let result = {
      defer { continuation.finish() }
      return try await service.startTask(
        request, reply: { try await replies.send($0) }, progress: { continuation.yield($0) })
    }()
    for await reply in news { try await replies.send(reply) }
    return try await result
  }

  /// Calls `run` with the feed of a room, and keeps the feed alive until `run` returns.
  package typealias FeedProvider =
    @Sendable (
      _ room: String, _ run: @Sendable (RoomFeed) async throws -> ByteBuffer
    ) async throws -> ByteBuffer

  /// - Parameter sleep: waits between the replies of a monitor with a maximum rate.
  package static func addMonitors(
    to interface: inout Interface,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    room: @escaping FeedProvider, screen: @escaping FeedProvider
  ) throws(RegistrationError) {
    try interface.handleRawStream("MonitorRoom") { call, replies in
      let parameters = try call.decodeParameters(as: MonitorRoomParameters.self)
      let interval = try interval(parameters.maximumRate)
      return try await room(parameters.room) { feed in
        let monitor = RoomMonitor(
          feed: feed, features: parameters.features.map(Set.init), interval: interval, sleep: sleep)
        return try await monitor.run(wantsMore: call.wantsMore, replies)
      }
    }
    try interface.handleRawStream("MonitorScreen") { call, replies in
      let parameters = try call.decodeParameters(as: MonitorScreenParameters.self)
      let interval = try interval(parameters.maximumRate)
      return try await screen(parameters.room) { feed in
        let monitor = RoomMonitor(
          feed: feed, whole: "screen", features: nil, interval: interval, sleep: sleep)
        return try await monitor.run(wantsMore: call.wantsMore, replies)
      }
    }
  }

  /// Converts a rate, in replies per second, to the time between two replies.
  private static func interval(_ rate: Double?) throws(ServiceError) -> Duration? {
    guard let rate else { return nil }
    // Rates below one reply per day would exceed the range of `Duration`.
    guard rate >= 1.0 / 86_400 else { throw .invalidParameter("maximumRate") }
    return .seconds(1 / rate)
  }
}
