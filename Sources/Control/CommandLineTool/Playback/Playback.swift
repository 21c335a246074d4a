import Dispatch
import Glibc
import JSON
import LiveEvents
import Platform

/// What to play, and how.
struct PlaybackPlan: Sendable {
  /// The room of every line; nil lets each line name its own.
  var room: RoomName?
  var speed = PlaybackSpeed.times(1)
  var format = LineFormat.auto
  /// Whether what the daemon has not acknowledged is sent again when the connection is lost. Input that is
  /// being written, such as a pipe, cannot be read a second time, and always is.
  var reconnects = false

  /// The line that tells the daemon how to treat the lines that follow; nil if no options are
  /// needed.
  ///
  /// If the recording is played as fast as possible, frames follow its time, so that the room draws
  /// the same frames as when it was recorded.
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
  /// What the daemon confirmed.
  package var confirmed = SyncSchedule.Confirmed()
  package var elapsedNanoseconds: Int64 = 0
  /// Kinds of a recorded chat that could not be translated, with their numbers.
  package var unknown: [String: Int] = [:]
  /// What the input looks like, if it has nothing that the daemon reads.
  package var appearance: String?
  /// Why some lines are not on disk although the room should have recorded them; `nil` if none are
  /// known to be missing.
  package var unrecorded: String?
  /// How often the connection was lost and made again.
  package var reconnections = 0
}

/// A playback that ended early, and what was confirmed by then.
struct PlaybackInterrupted: Error {
  var failure: Failure
  var result: PlaybackResult
}

enum Playback {
  /// Plays a source into the daemon, on a thread of its own. Cancelling the task ends the playback.
  ///
  /// - Parameters:
  ///   - source: makes the source, on that thread.
  ///   - onProgress: called on that thread several times a second.
  ///   - onConnection: called on that thread when the connection is lost, with `false`, and when it is there
  ///     again.
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
              // First, because an unreadable file is worth reporting even if no daemon is running.
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
