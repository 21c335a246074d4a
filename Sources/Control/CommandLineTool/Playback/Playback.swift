import Dispatch
import Glibc
import JSON
import LiveEvents
import SystemSupport

/// The parameters of a playback.
struct PlaybackPlan: Sendable {
  /// The room of every line; nil if each line names its own room.
  var room: RoomName?
  var speed = PlaybackSpeed.times(1)
  var format = LineFormat.auto
  /// Whether lines that the daemon has not acknowledged are sent again after the connection was
  /// lost. Input that cannot be read again, such as a pipe, is always sent again.
  var reconnects = false

  /// The line that sets options for the lines after it; nil if no options are needed.
  ///
  /// If the recording is played at full speed, frames follow the recording's time. The room then
  /// draws the same frames as during the recording.
  var optionsLine: String? {
    var members: [JSONName: JSONValue] = [:]
    if let room { members["room"] = .string(room.description) }
    if speed == .maximum { members["clock"] = "event" }
    if members.isEmpty { return nil }
    members["type"] = "options"
    return JSONValue.object(members).description + "\n"
  }
}

/// The result of a playback.
package struct PlaybackResult: Equatable, Sendable {
  package var lines = 0
  package var bytes = 0
  /// The counts that the daemon confirmed.
  package var confirmed = SyncSchedule.Confirmed()
  package var elapsedNanoseconds: Int64 = 0
  /// The kinds of message in a recorded chat that could not be translated, with their counts.
  package var unknown: [String: Int] = [:]
  /// A description of the input, if it contained nothing that the daemon reads.
  package var appearance: String?
  /// Why some lines are not on disk although the room is recorded; `nil` if no lines are known to
  /// be missing.
  package var unrecorded: String?
  /// How often a lost connection was replaced.
  package var reconnections = 0
}

/// A playback that ended early, with the counts confirmed by then.
struct PlaybackInterrupted: Error {
  var failure: Failure
  var result: PlaybackResult
}

enum Playback {
  /// Plays a source into the daemon, on a dedicated thread. Cancelling the task ends the playback.
  ///
  /// - Parameters:
  ///   - source: creates the source on that thread.
  ///   - onProgress: called on that thread several times per second.
  ///   - onConnection: called on that thread with `false` when the connection is lost, and with
  ///     `true` when it is back.
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
              // The source is opened first: an unreadable file is reported even if no daemon is
              // running.
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
