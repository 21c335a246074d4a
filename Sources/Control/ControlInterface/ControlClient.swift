public import JSON
public import LiveEvents
public import Prometheus
public import Varlink

/// Typed calls of `io.livehost.Control`.
///
/// Errors of the daemon arrive as ``VarlinkClientError/remote(_:)``; `ControlError(_:)` and
/// `ServiceError(_:)` give their typed forms.
public struct ControlClient: Sendable {
  public let client: VarlinkClient

  public init(_ client: VarlinkClient) { self.client = client }

  /// Connects to a control socket.
  /// - Throws: ``VarlinkClientError/notReachable(path:code:)`` if no daemon is there.
  public static func connect(path: String) async throws(VarlinkClientError) -> ControlClient {
    ControlClient(try await VarlinkClient.connect(path: path))
  }

  private func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as: Reply.Type = Reply.self
  ) async throws(VarlinkClientError) -> Reply {
    try await client.call("\(ControlInterface.name).\(method)", parameters)
  }

  public func getStatus() async throws(VarlinkClientError) -> StatusReport {
    try await call("GetStatus", NoParameters())
  }

  /// What monitoring systems collect, sorted by name.
  public func getMetrics() async throws(VarlinkClientError) -> [MetricFamily] {
    try await call("GetMetrics", NoParameters(), as: MetricsReply.self).metrics
  }

  /// Has the daemon read its configuration again; `ReloadFailure` gives the typed form of a refusal.
  public func reload() async throws(VarlinkClientError) {
    _ = try await client.call(
      "\(ServiceManagement.name).Reload", NoParameters(), returning: NoParameters.self)
  }

  /// Changes the level of the daemon's log, as syslog counts; 8 for all.
  public func setLogLevel(_ level: Int) async throws(VarlinkClientError) {
    _ = try await client.call(
      "\(ServiceManagement.name).SetLogLevel", LevelParameters(level: level),
      returning: NoParameters.self)
  }

  public func listRooms() async throws(VarlinkClientError) -> [RoomSummary] {
    try await call("ListRooms", NoParameters(), as: ListRoomsReply.self).rooms
  }

  public func openRoom(_ room: String) async throws(VarlinkClientError) {
    _ = try await call("OpenRoom", RoomParameters(room: room), as: NoParameters.self)
  }

  public func closeRoom(_ room: String) async throws(VarlinkClientError) {
    _ = try await call("CloseRoom", RoomParameters(room: room), as: NoParameters.self)
  }

  /// The state of a room; nil shows all features.
  public func getRoom(
    _ room: String, feature: Feature? = nil
  ) async throws(VarlinkClientError) -> RoomReport {
    try await call("GetRoom", GetRoomParameters(room: room, feature: feature))
  }

  /// The same as JSON, with members that this client does not know.
  public func getRoomJSON(
    _ room: String, feature: Feature? = nil
  ) async throws(VarlinkClientError) -> JSONValue {
    try await call("GetRoom", GetRoomParameters(room: room, feature: feature))
  }

  /// Sets a slider to a value from 0 to 1. Returns what it is set to.
  public func setControl(
    _ control: String, value: Double, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call(
      "SetControl", SetControlParameters(room: room, control: control, value: value))
  }

  /// Sets a switch, or toggles it where `on` is nil. Returns its position.
  public func setControl(
    _ control: String, on: Bool?, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call("SetControl", SetControlParameters(room: room, control: control, on: on))
  }

  /// Lets in one person, all people, or without both whoever has waited longest.
  public func admit(
    user: String? = nil, all: Bool = false, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call("Admit", AdmitParameters(room: room, user: user, all: all ? true : nil))
  }

  /// Shows only messages that meet every condition that is set.
  public func setChatFilter(
    user: String? = nil, words: String? = nil, mentionsOnly: Bool? = nil, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call(
      "SetChatFilter",
      SetChatFilterParameters(room: room, user: user, words: words, mentionsOnly: mentionsOnly))
  }

  /// Marks the messages that mention one of these names.
  public func setMentionedNames(
    _ names: [String], in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call("SetMentionedNames", SetMentionedNamesParameters(room: room, names: names))
  }

  public func scrollChat(
    to position: ScrollPosition, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call("ScrollChat", ScrollChatParameters(room: room, position: position))
  }

  /// Opens the thread of a message; nil closes the open one.
  public func showThread(
    of message: String?, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call("ShowThread", ShowThreadParameters(room: room, message: message))
  }

  public func handleNotice(
    _ notice: Int, _ handling: NoticeHandling, in room: String
  ) async throws(VarlinkClientError) -> HostReply {
    try await call(
      "HandleNotice", HandleNoticeParameters(room: room, notice: notice, handling: handling))
  }

  /// Begins to record a room.
  public func startRecording(_ room: String) async throws(VarlinkClientError) -> RecordingReport {
    try await call("StartRecording", RoomParameters(room: room), as: RecordingReply.self).recording
  }

  /// Ends the recording of a room, once all of it is on disk.
  public func stopRecording(_ room: String) async throws(VarlinkClientError) -> RecordingReport {
    try await call("StopRecording", RoomParameters(room: room), as: RecordingReply.self).recording
  }

  /// The recordings, oldest first; nil means those of all rooms.
  public func listRecordings(
    room: String? = nil
  ) async throws(VarlinkClientError) -> [RecordingReport] {
    try await call(
      "ListRecordings", ListRecordingsParameters(room: room), as: ListRecordingsReply.self
    ).recordings
  }

  /// Runs a task: progress and parts of the result, then the result. Uses up this client's connection;
  /// closing it cancels the task.
  public func startTask(
    _ request: StartTaskRequest
  ) throws(VarlinkClientError) -> ReplySequence<TaskReply> {
    try client.callMore("\(ControlInterface.name).StartTask", request)
  }

  /// The tasks that run, oldest first.
  public func listTasks() async throws(VarlinkClientError) -> [TaskReport] {
    try await call("ListTasks", NoParameters(), as: ListTasksReply.self).tasks
  }

  /// Asks a task to end.
  public func cancelTask(_ task: String) async throws(VarlinkClientError) {
    _ = try await call("CancelTask", CancelTaskParameters(task: task), as: NoParameters.self)
  }

  /// Runs a scenario: progress, then the report. Uses up this client's connection.
  public func simulate(
    _ request: SimulateRequest
  ) throws(VarlinkClientError) -> ReplySequence<SimulateReply> {
    try client.callMore("\(ControlInterface.name).Simulate", request)
  }

  /// Why a view of a room was evaluated.
  public func explain(
    room: String, view: String
  ) async throws(VarlinkClientError) -> Explanation {
    try await call("Explain", ExplainParameters(room: room, view: view))
  }

  /// The hangs of the running daemon that began at `timestamp` or later, in milliseconds since 1970.
  public func listHangs(since timestamp: Int? = nil) async throws(VarlinkClientError)
    -> [HangReport]
  {
    try await call("ListHangs", ListHangsParameters(since: timestamp), as: HangsReply.self).hangs
  }

  /// Watches for hangs: first those so far, then each new one. Uses up this client's connection.
  public func monitorHangs() throws(VarlinkClientError) -> ReplySequence<HangsReply> {
    try client.callMore("\(ControlInterface.name).MonitorHangs", NoParameters())
  }

  /// Hands over events and waits until they are applied.
  public func sendEvents(
    room: String? = nil, _ events: [JSONValue]
  ) async throws(VarlinkClientError) -> SendEventsReply {
    try await call("SendEvents", SendEventsParameters(room: room, events: events))
  }

  /// Watches a room; ends with `NoSuchRoom` when it closes. Uses up this client's connection.
  /// - Parameter maximumRate: States per second; nil means one for each change.
  public func monitorRoom(
    _ room: String, features: [Feature]? = nil, maximumRate: Double? = nil
  ) throws(VarlinkClientError) -> RoomStates {
    let parameters = MonitorRoomParameters(
      room: room, features: features, maximumRate: maximumRate)
    return RoomStates(
      replies: try client.callMore("\(ControlInterface.name).MonitorRoom", parameters))
  }

  /// What the views of a room look like, whenever that changes; ends with `NoSuchRoom` when it closes.
  /// Uses up this client's connection.
  /// - Parameter maximumRate: Screens per second; nil means as often as the daemon publishes.
  public func monitorScreen(
    _ room: String, maximumRate: Double? = nil
  ) throws(VarlinkClientError) -> Screens {
    let parameters = MonitorScreenParameters(room: room, maximumRate: maximumRate)
    return Screens(
      replies: try client.callMore("\(ControlInterface.name).MonitorScreen", parameters))
  }

  /// What the views of a room look like now.
  public func getScreen(_ room: String) async throws(VarlinkClientError) -> ScreenReport {
    let reply = try await call(
      "MonitorScreen", MonitorScreenParameters(room: room, maximumRate: nil),
      as: MonitorScreenReply.self)
    guard let screen = reply.screen else { throw .unexpectedReply("no screen") }
    return try Screens.report(screen)
  }
}
