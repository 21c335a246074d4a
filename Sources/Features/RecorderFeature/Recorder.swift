import Composable

/// The calls by which effects control the room's own recorder. A call has an effect only while the
/// attempt with its number is the newest. A failed call throws the reason.
package struct Recorder: DependencyValue {
  /// Starts a recording, and returns its name.
  package var start: @Sendable (_ attempt: Int) async throws -> String
  /// Closes the recording, which may be paused. Returns `nil` if there is none.
  package var stop: @Sendable (_ attempt: Int) async throws -> SavedRecording?
  package var pause: @Sendable (_ attempt: Int) async throws -> Void
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

  /// The recorder of a room that cannot store recordings.
  package static var live: Recorder {
    Recorder(
      start: { _ in throw Missing() }, stop: { _ in nil }, pause: { _ in throw Missing() },
      resume: { _ in throw Missing() })
  }

  private struct Missing: Error, CustomStringConvertible {
    var description: String { "this room has no recorder" }
  }
}
