import ControlInterface
import LiveEvents
import RateLimiting
import RecorderFeature
import Recordings

/// The part of a room's own recorder that is not in the room's state: the paused or closing
/// recording, and the completions of waiting clients.
struct OwnRecorder {
  typealias Outcome = Result<RecorderOutcome, ControlError>

  /// A recording that is to be closed.
  enum EndedRecording: Sendable {
    case written(RoomRecorder, digest: String?)
    /// A paused recording, given by its name.
    case open(String)
  }

  /// A recording that is being closed.
  private struct Closing {
    let recorder: RoomRecorder
    /// The number of steps that were not written yet when the closing began.
    let steps: Int
    var progress = ProgressThinner<RecorderProgress>()
  }

  /// The name of the paused recording, which can be resumed or closed.
  private(set) var paused: String?
  private var closing: Closing?
  private var waiters = Waiters<Outcome>()

  /// Whether a recording is paused or being closed.
  var holdsRecording: Bool { paused != nil || closing != nil }

  /// Calls `completion` when an attempt ends, during the reduction of an action.
  mutating func whenEnded(_ attempt: Int, _ completion: @escaping Waiters<Outcome>.Completion) {
    waiters.add(completion, to: attempt)
  }

  /// Removes the completions of an attempt that has ended.
  mutating func end(_ attempt: Int) -> [Waiters<Outcome>.Completion] { waiters.remove(attempt) }

  /// Calls all waiting completions with an error, because the room is closed.
  mutating func endWaits(_ error: ControlError) {
    for body in waiters.removeAll() { body(.failure(error)) }
  }

  mutating func begin() { paused = nil }

  mutating func pause(_ recording: RoomRecorder) { paused = recording.name }

  /// Begins to close `written`, the recording that was being written. If it is `nil`, begins to
  /// close the paused recording. Returns `nil` if there is neither.
  mutating func close(_ written: (recorder: RoomRecorder, digest: String?)?) -> EndedRecording? {
    guard let written else { return paused.map { .open($0) } }
    closing = Closing(recorder: written.recorder, steps: written.recorder.waitingSteps)
    return .written(written.recorder, digest: written.digest)
  }

  /// Records that the recording is closed.
  mutating func closed() { (paused, closing) = (nil, nil) }

  /// Returns the progress of closing a recording, at most once a second; `nil` if there is nothing
  /// new to show.
  mutating func progress(_ progress: RecorderProgress, at now: Instant) -> RecorderProgress? {
    guard let (recorder, total) = closing.map({ ($0.recorder, $0.steps) }),
      case let left = recorder.waitingSteps, left <= total
    else { return nil }
    var reading = progress
    (reading.done, reading.total) = (total - left, total)
    return closing?.progress.push(
      reading, completed: UInt64(total - left), total: UInt64(total), at: now
    ).output
  }

  /// Returns the recording to continue after a restart, because it was being written when the
  /// daemon stopped; `nil` if the recording is paused or must be closed.
  ///
  /// - Parameter saved: the recording that an earlier version was writing.
  mutating func restore(_ state: RecorderFeature.State, saved: String?) -> String? {
    let name = state.work?.recording ?? saved
    switch state.own?.state {
    case .idle, .failed: return nil
    case .paused, .stopping:
      // Versions that could not pause closed a recording in one step.
      guard state.work != nil else { return name }
      paused = name
      return nil
    case .starting: return saved
    case .recording: return name
    case nil: return saved
    }
  }
}

extension RecorderFeature.State {
  /// Whether the room's own recorder has an attempt in progress, or must repeat one.
  func isUnfinished(isRecording: Bool) -> Bool {
    let hasFailed = work.map { $0.failures > 0 || $0.failure != nil } ?? false
    return work?.wish != nil || (own?.state == .recording) != isRecording || hasFailed
  }

  /// Returns why the room's own recorder refuses a client's request; `nil` if it accepts the
  /// request.
  func refusal(of wish: RecorderWish, in room: RoomName) -> ControlError? {
    if accepts(wish) { return nil }
    return switch wish {
    case .start: .alreadyRecording(room.description)
    case .resume where own?.state == .recording: .alreadyRecording(room.description)
    case .stop, .pause, .resume: .notRecording(room.description)
    }
  }
}
