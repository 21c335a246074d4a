package import JSON
package import Varlink

/// Typed calls of `io.livehost.Control`.
///
/// Errors of the daemon arrive as ``VarlinkClientError/remote(_:)``; `ControlError(_:)` and
/// `ServiceError(_:)` give their typed forms.
package struct ControlClient: Sendable {
  package let client: VarlinkClient

  package init(_ client: VarlinkClient) { self.client = client }

  /// Connects to a control socket.
  /// - Throws: ``VarlinkClientError/notReachable(path:code:)`` if no daemon is there.
  package static func connect(path: String) async throws(VarlinkClientError) -> ControlClient {
    ControlClient(try await VarlinkClient.connect(path: path))
  }

  private func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as: Reply.Type = Reply.self
  ) async throws(VarlinkClientError) -> Reply {
    try await client.call("\(ControlInterface.name).\(method)", parameters)
  }

  /// Has the daemon read its configuration again; `ReloadFailure` gives the typed form of a refusal.
  package func reload() async throws(VarlinkClientError) {
    _ = try await client.call(
      "\(ServiceManagement.name).Reload", NoParameters(), returning: NoParameters.self)
  }

  /// Changes the level of the daemon's log, as syslog counts; 8 for all.
  package func setLogLevel(_ level: Int) async throws(VarlinkClientError) {
    _ = try await client.call(
      "\(ServiceManagement.name).SetLogLevel", LevelParameters(level: level),
      returning: NoParameters.self)
  }

  /// The same as JSON, with members that this client does not know.
  package func getRoomJSON(
    _ room: String, feature: Feature? = nil
  ) async throws(VarlinkClientError) -> JSONValue {
    try await call("GetRoom", GetRoomParameters(room: room, feature: feature))
  }

  /// Watches a room; ends with `NoSuchRoom` when it closes. Uses up this client's connection.
  /// - Parameter maximumRate: States per second; nil means one for each change.
  package func monitorRoom(
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
  package func monitorScreen(
    _ room: String, maximumRate: Double? = nil
  ) throws(VarlinkClientError) -> Screens {
    let parameters = MonitorScreenParameters(room: room, maximumRate: maximumRate)
    return Screens(
      replies: try client.callMore("\(ControlInterface.name).MonitorScreen", parameters))
  }

  /// What the views of a room look like now.
  package func getScreen(_ room: String) async throws(VarlinkClientError) -> ScreenReport {
    let reply = try await call(
      "MonitorScreen", MonitorScreenParameters(room: room, maximumRate: nil),
      as: MonitorScreenReply.self)
    guard let screen = reply.screen else { throw .unexpectedReply("no screen") }
    return try screen.report()
  }
}
