package import JSON
package import Varlink

/// A typed client of `io.livehost.Control`.
///
/// Errors of the daemon arrive as ``VarlinkClientError/remote(_:)``; `ControlError(_:)` and
/// `ServiceError(_:)` convert them to their typed forms.
package struct ControlClient: Sendable {
  package let client: VarlinkClient

  package init(_ client: VarlinkClient) { self.client = client }

  /// Connects to a control socket. Throws ``VarlinkClientError/notReachable(path:code:)`` if no
  /// daemon listens on the path.
  package static func connect(path: String) async throws(VarlinkClientError) -> ControlClient {
    ControlClient(try await VarlinkClient.connect(path: path))
  }

  private func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as: Reply.Type = Reply.self
  ) async throws(VarlinkClientError) -> Reply {
    try await client.call("\(ControlInterface.name).\(method)", parameters)
  }

  /// Makes the daemon reload its configuration. If the configuration is invalid, `ReloadFailure`
  /// converts the error to its typed form.
  package func reload() async throws(VarlinkClientError) {
    _ = try await client.call(
      "\(ServiceManagement.name).Reload", NoParameters(), returning: NoParameters.self)
  }

  /// Sets the daemon's log level to a syslog severity; 8 logs everything.
  package func setLogLevel(_ level: Int) async throws(VarlinkClientError) {
    _ = try await client.call(
      "\(ServiceManagement.name).SetLogLevel", LevelParameters(level: level),
      returning: NoParameters.self)
  }

  /// Returns the state of a room as undecoded JSON, so that members that this client does not know
  /// are included.
  package func getRoomJSON(
    _ room: String, feature: Feature? = nil
  ) async throws(VarlinkClientError) -> JSONValue {
    try await call("GetRoom", GetRoomParameters(room: room, feature: feature))
  }

  /// Watches the state of a room; ends with `NoSuchRoom` when the room closes. Receives at most
  /// `maximumRate` states per second, or one for each change if it is nil. The connection cannot be
  /// used for other calls afterwards.
  package func monitorRoom(
    _ room: String, features: [Feature]? = nil, maximumRate: Double? = nil
  ) throws(VarlinkClientError) -> RoomStates {
    let parameters = MonitorRoomParameters(
      room: room, features: features, maximumRate: maximumRate)
    return RoomStates(
      replies: try client.callMore("\(ControlInterface.name).MonitorRoom", parameters))
  }

  /// Watches the screen of a room; ends with `NoSuchRoom` when the room closes. Receives at most
  /// `maximumRate` screens per second, or one for each published change if it is nil. The
  /// connection cannot be used for other calls afterwards.
  package func monitorScreen(
    _ room: String, maximumRate: Double? = nil
  ) throws(VarlinkClientError) -> Screens {
    let parameters = MonitorScreenParameters(room: room, maximumRate: maximumRate)
    return Screens(
      replies: try client.callMore("\(ControlInterface.name).MonitorScreen", parameters))
  }

  package func getScreen(_ room: String) async throws(VarlinkClientError) -> ScreenReport {
    let reply = try await call(
      "MonitorScreen", MonitorScreenParameters(room: room, maximumRate: nil),
      as: MonitorScreenReply.self)
    guard let screen = reply.screen else { throw .unexpectedReply("no screen") }
    return try screen.report()
  }
}
