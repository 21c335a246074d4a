import Composable

/// The room's own recorder, as effects use it. Each call gets the number of the attempt, and takes effect only
/// while that is the newest one; it throws what an attempt failed for.
package struct Recorder: DependencyValue {
  /// Begins a recording, and returns its name.
  package var start: @Sendable (_ attempt: Int) async throws -> String
  /// Closes the recording, which may be paused; `nil` if there is none.
  package var stop: @Sendable (_ attempt: Int) async throws -> SavedRecording?
  package var pause: @Sendable (_ attempt: Int) async throws -> Void
  /// Continues the recording that was paused.
  package var resume: @Sendable (_ attempt: Int) async throws -> Void

  package init(
    start: @escaping @Sendable (_ attempt: Int) async throws -> String,
    stop: @escaping @Sendable (_ attempt: Int) async throws -> SavedRecording?,
    pause: @escaping @Sendable (_ attempt: Int) async throws -> Void,
    resume: @escaping @Sendable (_ attempt: Int) async throws -> Void
  ) {
    self.start = start
    self.stop = stop
    self.pause = pause
    self.resume = resume
  }

  /// A room without a place for recordings.
  package static var live: Recorder {
    Recorder(
      start: { _ in throw Missing() }, stop: { _ in nil }, pause: { _ in throw Missing() },
      resume: { _ in throw Missing() })
  }

  private struct Missing: Error, CustomStringConvertible {
    var description: String { "this room has no recorder" }
  }
}
