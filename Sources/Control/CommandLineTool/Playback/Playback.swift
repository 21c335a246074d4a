import Dispatch
import Glibc
import LiveEvents
import Varlink

/// What to play, and how.
struct PlaybackPlan: Sendable {
  /// The room of every line; nil lets lines name theirs.
  var room: RoomName?
  var speed = PlaybackSpeed.times(1)
  var format = LineFormat.auto

  /// The line that tells the daemon how to take what follows; nil if nothing is out of the ordinary.
  ///
  /// Played as fast as possible, frames follow the recording's time, so that the room goes through
  /// the frames that it went through then.
  var optionsLine: String? {
    var members: [String: JSONValue] = [:]
    if let room { members["room"] = .string(room.description) }
    if speed == .maximum { members["clock"] = "event" }
    if members.isEmpty { return nil }
    members["type"] = "options"
    return JSONValue.object(members).description + "\n"
  }
}

/// What came of a playback.
package struct PlaybackResult: Equatable, Sendable {
  package var lines = 0
  package var bytes = 0
  /// What the daemon confirmed.
  package var confirmed = SyncSchedule.Confirmed()
  package var elapsedNanoseconds: Int64 = 0
  /// Why some of it is not on disk though the room was to record it; `nil` if nothing is known of that.
  package var unrecorded: String?
}

/// A playback that ended before its end, and what was confirmed by then.
struct PlaybackInterrupted: Error {
  var failure: Failure
  var result: PlaybackResult
}

enum Playback {
  /// Plays a source into the daemon, on a thread of its own; cancelling the task ends it.
  /// - Parameters:
  ///   - source: Makes the source on that thread.
  ///   - onProgress: Called there several times a second.
  /// - Throws: ``PlaybackInterrupted``, or ``Failure`` if it did not begin.
  static func run(
    _ plan: PlaybackPlan, to places: [SocketPlace],
    from source: @escaping @Sendable () throws -> any ByteSource,
    onProgress: (@Sendable (PlaybackProgress) -> Void)? = nil
  ) async throws -> PlaybackResult {
    let wake = try WakeEvent()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "playback").async {
          continuation.resume(
            with: Result {
              // A file that cannot be read is the user's first concern, before the daemon.
              let source = try source()
              let session = PlaybackSession(
                plan, socket: try connect(places), source: source, wake: wake.descriptor,
                onProgress: onProgress)
              return try session.run()
            })
        }
      }
    } onCancel: {
      wake.raise()
    }
  }

  private static func connect(_ places: [SocketPlace]) throws(Failure) -> StreamSocket {
    for place in places {
      do {
        return try StreamSocket(path: place.ingest)
      } catch {
        if Context.saysNobodyIsThere(error.code) { continue }
        throw .notConnected(path: place.ingest, code: error.code)
      }
    }
    throw .notRunning(places.map(\.ingest))
  }
}
