import ControlInterface
import LiveEvents
import RateLimiting
import RecorderFeature
import Recordings

/// A room's own recorder beside what its state shows: the paused or closing recording, and waiting
/// clients.
struct OwnRecorder {
  typealias Outcome = Result<RecorderOutcome, ControlError>

  /// A recording that is to be closed.
  enum EndedRecording: Sendable {
    case written(RoomRecorder, digest: String?)
    /// It is not being written.
    case open(String)
  }

  /// A recording that is being closed.
  private struct Closing {
    let recorder: RoomRecorder
    /// How many steps were not written when the closing began.
    let steps: Int
    var progress = ProgressThinner<RecorderProgress>()
  }

  /// The paused recording, which is to be resumed or closed.
  private(set) var paused: String?
  private var closing: Closing?
  private var waiters = Waiters<Outcome>()

  /// Whether a recording is paused or being closed.
  var holdsRecording: Bool { paused != nil || closing != nil }

  /// Calls `completion` at the end of an attempt, while the room is changing.
  mutating func whenEnded(_ attempt: Int, _ completion: @escaping Waiters<Outcome>.Completion) {
    waiters.add(completion, to: attempt)
  }

  /// Removes the completions of an attempt that has ended.
  mutating func end(_ attempt: Int) -> [Waiters<Outcome>.Completion] { waiters.remove(attempt) }

  /// Ends all waits, because the room closes.
  mutating func endWaits(_ error: ControlError) {
    for body in waiters.removeAll() { body(.failure(error)) }
  }

  mutating func begin() { paused = nil }

  mutating func pause(_ recording: RoomRecorder) { paused = recording.name }

  /// Begins to close the recording that was written until now, or else the paused one; `nil` if
  /// there is neither.
  mutating func close(_ written: (recorder: RoomRecorder, digest: String?)?) -> EndedRecording? {
    guard let written else { return paused.map { .open($0) } }
    closing = Closing(recorder: written.recorder, steps: written.recorder.waitingSteps)
    return .written(written.recorder, digest: written.digest)
  }

  /// Records that the recording is closed.
  mutating func closed() { (paused, closing) = (nil, nil) }

  /// Returns how far the closing is, at most once a second; `nil` if there is nothing new to show.
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

  /// After a restart: returns the recording to continue, which was being written when the program
  /// ended; `nil` if it is paused or to be closed.
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
  /// Whether something about the room's own recorder is in progress, or has to be tried again.
  func isUnfinished(isRecording: Bool) -> Bool {
    let hasFailed = work.map { $0.failures > 0 || $0.failure != nil } ?? false
    return work?.wish != nil || (own?.state == .recording) != isRecording || hasFailed
  }

  /// Why the room's own recorder cannot do what a client wishes; `nil` if it can.
  func refusal(of wish: RecorderWish, in room: RoomName) -> ControlError? {
    if accepts(wish) { return nil }
    return switch wish {
    case .start: .alreadyRecording(room.description)
    case .resume where own?.state == .recording: .alreadyRecording(room.description)
    case .stop, .pause, .resume: .notRecording(room.description)
    }
  }
}
