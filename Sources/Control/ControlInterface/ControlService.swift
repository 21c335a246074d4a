package import JSON
package import LiveEvents
package import Prometheus
import Varlink

/// Performs acts of the host, which come by calls.
package protocol HostActService: Sendable {
  /// Performs an act of the host; the room must be open. Returns once it is applied and, in a room that
  /// records, synced to disk.
  func act(_ act: LiveEvent.Payload, in room: String) async throws -> HostReply
  /// The identifiers of a message of the chat and of its author; ``ControlError/noSuchMessage(_:_:)`` if the
  /// room does not keep it.
  func message(numbered number: Int, in room: String) async throws -> (
    identifier: Text, author: Text
  )
}

/// What the daemon does for `io.livehost.Control`.
///
/// Called on a connection's event loop, which must not be blocked. Errors to throw are
/// ``ControlError`` and `ServiceError` (`invalidParameter` for a name that breaks the rule).
/// Reading methods are open to all callers; the others are called after authorisation only.
package protocol ControlService: HostActService {
  func getStatus() async throws -> StatusReport
  /// Sorted by name.
  func getMetrics() async throws -> [MetricFamily]
  /// Sorted by name.
  func listRooms() async throws -> [RoomSummary]
  func openRoom(_ room: String) async throws
  func closeRoom(_ room: String) async throws
  /// The room with these features; nil means all of them.
  func getRoom(_ room: String, features: Set<Feature>?) async throws -> RoomReport
  /// Of one room or, with nil, of all, by room.
  func listSources(_ room: String?) async throws -> [SourceReport]
  /// The number of the newest batch that the room holds, by source.
  func getPositions(_ room: String) async throws -> [String: Int]
  /// The states of the room for its monitors; one feed for each room.
  func roomFeed(_ room: String) async throws -> RoomFeed
  /// Why a view of a room was evaluated; ``ControlError/noSuchView(room:view:)`` if it never was.
  func explain(room: String, view: String) async throws -> Explanation
  /// Has the caller carry out the room's requests until it disconnects; ends with
  /// ``ControlError/noSuchRoom(_:)`` when the room closes.
  ///
  /// - Parameters:
  ///   - controls: those whose requests it takes; nil means all.
  ///   - reply: takes a request or a withdrawal; returns once the client has read enough for another.
  func monitorRequests(
    _ room: String, controls: [Text]?,
    reply: @escaping @Sendable (MonitorRequestsReply) async throws -> Void
  ) async throws -> MonitorRequestsReply
  /// Returns once the room has taken it; ``ControlError/noSuchRequest(_:)`` if the request is void.
  func reportOutcome(_ identifier: String, _ outcome: RequestOutcome) async throws
  /// Runs a scenario; ``ControlError/invalidScenario(file:line:key:message:)`` if it is wrong.
  ///
  /// - Parameter progress: told the share done in percent, at most once for each.
  func simulate(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply
  /// Returns once the recording is begun.
  ///
  /// - Parameter retries: whether it is tried until it works if the first attempt fails.
  func startRecording(_ room: String, retries: Bool) async throws -> RecordingReport
  /// Returns once all of it is on disk.
  func pauseRecording(_ room: String) async throws -> RecordingReport
  func resumeRecording(_ room: String) async throws -> RecordingReport
  func stopRecording(_ room: String) async throws -> RecordingReport
  /// The newest, oldest first.
  /// - Parameters:
  ///   - room: nil means those of all rooms.
  ///   - before: only those that are older than this one; nil means all.
  func listRecordings(_ room: String?, before: String?) async throws -> ListRecordingsReply
  /// Returns what was deleted, once its files are removed.
  func deleteRecording(_ recording: String) async throws -> RecordingReport
  /// Reads recordings to find out whether they are as they were written.
  ///
  /// - Parameter reply: takes the progress or the result of one recording; returns once the client has read
  ///   enough for another.
  func verifyRecordings(
    _ recording: String?, room: String?,
    reply: @escaping @Sendable (VerifyRecordingsReply) async throws -> Void
  ) async throws
  /// Runs a task to its end.
  ///
  /// - Parameters:
  ///   - reply: takes a part of the result; returns once the client has read enough for another.
  ///   - progress: told the share done, at most a hundred times.
  func startTask(
    _ request: StartTaskRequest, reply: @escaping @Sendable (TaskReply) async throws -> Void,
    progress: @escaping @Sendable (TaskReply) -> Void
  ) async throws -> TaskReply
  /// Those that run, oldest first.
  func listTasks() async throws -> [TaskReport]
  /// Asks a task to end; ``ControlError/noSuchTask(_:)`` if it does not run.
  func cancelTask(_ task: String) async throws
  /// The hangs of this run of the daemon.
  var hangs: HangFeed { get }
  /// What the room's views look like, for its monitors.
  func screenFeed(_ room: String) async throws -> RoomFeed
  /// Returns once the events are applied.
  /// - Parameters:
  ///   - room: For events that name none; nil means `main`.
  ///   - events: JSON objects. `JSONValue.serialized()` gives one as a line.
  func sendEvents(room: String?, _ events: [JSONValue]) async throws -> SendEventsReply
}
