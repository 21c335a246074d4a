package import JSON
package import LiveEvents
package import Prometheus
import Varlink

/// Performs host actions that arrive as Varlink calls.
package protocol HostActService: Sendable {
  /// Performs a host action in an open room. Returns once the host action is applied. If the room
  /// is recorded, the host action is also on disk by then.
  func act(_ act: LiveEvent.Payload, in room: String) async throws -> HostReply
  /// Returns a chat message. Throws ``ControlError/noSuchMessage(_:_:)`` if the room does not store
  /// the message.
  func message(numbered number: Int, in room: String) async throws -> FoundMessage
}

/// The properties of a stored chat message that host actions need.
package struct FoundMessage: Sendable {
  package var identifier: Text
  package var author: Person
  /// The platform of the message, if known.
  package var platform: Text?

  package init(identifier: Text, author: Person, platform: Text? = nil) {
    self.identifier = identifier
    self.author = author
    self.platform = platform
  }
}

/// The daemon's implementation of `io.livehost.Control`.
///
/// Methods are called on the event loop of a connection and must not block it. The methods throw
/// ``ControlError``, or `ServiceError` with `invalidParameter` for an invalid name. All callers may
/// use methods that only read. All other methods are called only for authorised callers.
package protocol ControlService: HostActService {
  func getStatus() async throws -> StatusReport
  /// Returns the metrics, sorted by name.
  func getMetrics() async throws -> [MetricFamily]
  /// Returns the open rooms, sorted by name.
  func listRooms() async throws -> [RoomSummary]
  func openRoom(_ room: String) async throws
  func closeRoom(_ room: String) async throws
  /// Returns the state of a room, limited to the given features; nil means all features.
  func getRoom(_ room: String, features: Set<Feature>?) async throws -> RoomReport
  /// Returns the sources of one room; nil means the sources of all rooms, ordered by room.
  func listSources(_ room: String?) async throws -> [SourceReport]
  /// Returns, for each source, the number of the newest batch that the room has received.
  func getPositions(_ room: String) async throws -> [String: Int]
  /// Returns the feed of a room's state, which all its monitors share.
  func roomFeed(_ room: String) async throws -> RoomFeed
  /// Explains why a view was evaluated. Throws ``ControlError/noSuchView(room:view:)`` if the view
  /// was never evaluated.
  func explain(room: String, view: String) async throws -> Explanation
  /// Makes the caller a controller of the room until the caller disconnects. Throws
  /// ``ControlError/noSuchRoom(_:)`` when the room closes.
  ///
  /// - Parameters:
  ///   - controls: the controls whose requests the caller handles; nil means all.
  ///   - acts: the acts that the caller can carry out; nil means none.
  ///   - reply: sends a request or a withdrawal; returns once the client can receive another one.
  func monitorRequests(
    _ room: String, controls: [Text]?, acts: OfferedActs?,
    reply: @escaping @Sendable (MonitorRequestsReply) async throws -> Void
  ) async throws -> MonitorRequestsReply
  /// Reports the outcome of a request. Returns once the room has applied the outcome. Throws
  /// ``ControlError/noSuchRequest(_:)`` if the request was withdrawn or has ended.
  func reportOutcome(_ identifier: String, _ outcome: RequestOutcome) async throws
  /// Runs a scenario. Passes each percentage of progress to `progress` at most once. Throws
  /// ``ControlError/invalidScenario(file:line:key:message:)``.
  func simulate(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply
  /// Starts recording a room. Returns once the recording has started. If `retries` is true and the
  /// first attempt fails, attempts are repeated until one succeeds.
  func startRecording(_ room: String, retries: Bool) async throws -> RecordingReport
  /// Pauses the recording of a room. Returns once all earlier events are on disk.
  func pauseRecording(_ room: String) async throws -> RecordingReport
  func resumeRecording(_ room: String) async throws -> RecordingReport
  func stopRecording(_ room: String) async throws -> RecordingReport
  /// Returns the newest recordings, oldest first, of a room or of all rooms. If `before` names a
  /// recording, returns only recordings that are older.
  func listRecordings(_ room: String?, before: String?) async throws -> ListRecordingsReply
  /// Deletes a recording and its files. Returns the recording's last report.
  func deleteRecording(_ recording: String) async throws -> RecordingReport
  /// Checks recordings for damage. `reply` sends the progress or the result of one recording, and
  /// returns once the client can receive another reply.
  func verifyRecordings(
    _ recording: String?, room: String?,
    reply: @escaping @Sendable (VerifyRecordingsReply) async throws -> Void
  ) async throws
  /// Runs a task to its end.
  ///
  /// - Parameters:
  ///   - reply: sends a part of the result; returns once the client can receive another one.
  ///   - progress: receives the fraction of the task that is finished, at most a hundred times.
  func startTask(
    _ request: StartTaskRequest, reply: @escaping @Sendable (TaskReply) async throws -> Void,
    progress: @escaping @Sendable (TaskReply) -> Void
  ) async throws -> TaskReply
  /// Returns the running tasks, oldest first.
  func listTasks() async throws -> [TaskReport]
  /// Cancels a task. Throws ``ControlError/noSuchTask(_:)`` if the task is not running.
  func cancelTask(_ task: String) async throws
  /// The hangs since the daemon started.
  var hangs: HangFeed { get }
  /// Returns the feed of a room's screen, which all its monitors share.
  func screenFeed(_ room: String) async throws -> RoomFeed
  /// Sends events, which are JSON objects, to their rooms. An event that does not name a room is
  /// sent to `room`, or to the room `main` if `room` is nil. Returns once the events are applied.
  func sendEvents(room: String?, _ events: [JSONValue]) async throws -> SendEventsReply
}
