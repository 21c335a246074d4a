import Dispatch
import Glibc
import JSON
import LiveEvents
import SystemSupport

struct PlaybackPlan: Sendable {
  /// The room of every line; nil if each line names its own room.
  var room: RoomName?
  var speed = PlaybackSpeed.times(1)
  var format = LineFormat.auto
  /// Whether unacknowledged lines are sent again after the connection was lost. Lines of input that
  /// cannot be read again, such as a pipe, are always sent again.
  var reconnects = false

  /// The line that sets options for the lines after it; nil if no options are needed.
  ///
  /// At full speed, the room takes its time from the recording's timestamps, so that it draws the
  /// same frames as when the recording was made.
  var optionsLine: String? {
    var members: [JSONName: JSONValue] = [:]
    if let room { members["room"] = .string(room.description) }
    if speed == .maximum { members["clock"] = "event" }
    if members.isEmpty { return nil }
    members["type"] = "options"
    return JSONValue.object(members).description + "\n"
  }
}

/// The counts of a playback, and a description of the input that could not be used.
package struct PlaybackResult: Equatable, Sendable {
  package var lines = 0
  package var bytes = 0
  package var confirmed = SyncSchedule.Confirmed()
  package var elapsedNanoseconds: Int64 = 0
  /// The kinds of message in a recorded chat that could not be translated, and the number of
  /// messages of each kind.
  package var unknown: [String: Int] = [:]
  /// The probable format of the input, for the error message if the daemon could read nothing in
  /// it.
  package var appearance: String?
  /// Why the daemon could not write some lines of a recorded room to disk; `nil` if no lines are
  /// known to be missing.
  package var unrecorded: String?
  package var reconnections = 0
}

/// The error of a playback that ended early, and the counts that the daemon had confirmed by then.
struct PlaybackInterrupted: Error {
  var failure: Failure
  var result: PlaybackResult
}

enum Playback {
  /// Sends the lines of a source to the daemon on a dedicated thread, on which the closures are
  /// also called. Cancelling the task ends the playback.
  ///
  /// - Parameter onConnection: called with `false` when the connection is lost, and with `true`
  ///   when a new connection is established.
  /// - Throws: ``PlaybackInterrupted``, or ``Failure`` if the playback did not begin.
  static func run(
    _ plan: PlaybackPlan, to candidates: [SocketPaths],
    from source: @escaping @Sendable () throws -> any ByteSource,
    onProgress: (@Sendable (PlaybackProgress) -> Void)? = nil,
    onConnection: @escaping @Sendable (Bool) -> Void = { _ in }
  ) async throws -> PlaybackResult {
    let wake = try WakeSignal()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "playback").async {
          continuation.resume(
            with: Result {
              // The source is opened before connecting, so that an unreadable file is reported even
              // if no daemon is running.
              let source = try source()
              let session = try PlaybackSession(
                plan, connect: { () throws(Failure) in try connect(candidates) }, source: source,
                wake: wake.descriptor, onProgress: onProgress, onConnection: onConnection)
              return try session.run()
            })
        }
      }
    } onCancel: {
      wake.raise()
    }
  }

  private static func connect(_ candidates: [SocketPaths]) throws(Failure) -> StreamSocket {
    for sockets in candidates {
      do {
        return try StreamSocket(path: sockets.ingest)
      } catch {
        if Context.meansNotRunning(error.code) { continue }
        throw .notConnected(path: sockets.ingest, code: error.code)
      }
    }
    throw .notRunning(candidates.map(\.ingest))
  }
}
