import Composable
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
import NIOCore
import RateLimiting
import RecorderFeature
import Recordings

// The room's own recorder: what is wanted of it, and how it gets on with that.
extension Room {
  var recorder: RecorderFeature.State { screen.store.state.recorder }

  /// Whether the room's own recorder is writing.
  var isRecording: Bool { log?.recorder != nil }

  /// The name of the recording that is being written or paused, or else of the last one.
  var recordingName: String? {
    log?.recorder?.name ?? pausedRecording ?? recorder.work?.recording
  }

  /// Notes what somebody wants of the recorder. Calls `completion` with the outcome, maybe at once, and while the room
  /// is changing.
  ///
  /// - Parameter retries: whether it is tried until it works.
  func wish(
    _ wish: RecorderWish, retries: Bool, completion: @escaping RecorderWaiters.Completion
  ) {
    guard recorder.accepts(wish) else { return completion(.failure(refusal(of: wish))) }
    recorderWaiters.whenEnded((recorder.work?.attempt ?? 0) + 1, completion)
    perform(.wished(wish: wish, retries: retries))
  }

  private func refusal(of wish: RecorderWish) -> ControlError {
    switch wish {
    case .start: .alreadyRecording(name.description)
    case .resume where recorder.own?.state == .recording: .alreadyRecording(name.description)
    case .stop, .pause, .resume: .notRecording(name.description)
    }
  }

  /// Performs something about the recorder. Not a sign of life of the stream: the time of the events is not moved,
  /// and a recording that begins after this still holds all that happened.
  func perform(_ input: RecorderInput, now: NIODeadline = .now()) {
    activity.beginReducing(trace, in: name)
    if replayOffset == nil { clock.advance(to: clock.time(machine: now.machineTime)) }
    // Its effects are those of this room, also while it repeats what happened elsewhere.
    let startsEffects = screen.startsEffects
    screen.startsEffects = true
    screen.send(.recorder(.own(input)))
    screen.startsEffects = startsEffects
    log?.addChange(RoomChange(recorder: input), at: clock.now)
    log?.handOver()
    if let work = recorder.work { recordings?.note(work, of: name) }
  }

  /// Shows whether the disk answers on which the room is recorded.
  func noteDisk(answers: Bool) {
    if recorder.own != nil { perform(.disk(answers: answers)) }
  }

  /// Takes what an effect of the recorder brought back, unless it is known from the recorder itself.
  func perform(effectInput input: RecorderInput) {
    if case .ended(let attempt, _) = input, !isAttempting(attempt) { return }
    perform(input)
  }

  private func isAttempting(_ attempt: Int) -> Bool {
    recorder.work?.isAttempting(attempt) ?? false
  }

  /// Records from here on, if that is still wanted. Returns `false` if it is not.
  func begin(_ recorder: RoomRecorder, for attempt: Int, as outcome: RecorderOutcome) -> Bool {
    guard isAttempting(attempt) else { return false }
    begin(recorder, isNew: outcome != .resumed)
    perform(.ended(attempt: attempt, outcome: outcome))
    return true
  }

  /// Stops recording for a while, if that is still wanted.
  func pauseRecording(for attempt: Int) -> RoomRecorder? {
    guard isAttempting(attempt), let ended = endRecording() else { return nil }
    pausedRecording = ended.recorder.name
    return ended.recorder
  }

  /// After a restart: the recording that was being written when the program ended, if it is to go on; `nil` if it is paused
  /// or is to be closed.
  ///
  /// - Parameter saved: the one that an earlier version was writing.
  func recordingToContinue(_ saved: String?) -> String? {
    let name = recorder.work?.recording ?? saved
    switch recorder.own?.state {
    case .idle, .failed: return nil
    case .paused, .stopping:
      // Versions that could not pause closed a recording in one step.
      guard recorder.work != nil else { return name }
      pausedRecording = name
      return nil
    case .starting: return saved
    case .recording: return name
    case nil: return saved
    }
  }

  /// A recording that is to be closed.
  enum EndedRecording: Sendable {
    case written(RoomRecorder, digest: String?)
    /// It is not being written.
    case open(String)
  }

  /// Stops recording for good.
  func takeRecording() -> EndedRecording? {
    if let ended = endRecording() {
      saving = Saving(ended.recorder)
      return .written(ended.recorder, digest: ended.digest)
    }
    return pausedRecording.map { .open($0) }
  }

  /// Notes that the recording is closed.
  func recordingClosed() { (pausedRecording, saving) = (nil, nil) }

  /// How much of a recording that is being closed was not written when that began.
  struct Saving {
    let recorder: RoomRecorder
    let steps: Int
    var progress = ProgressThinner<RecorderProgress>()

    init(_ recorder: RoomRecorder) {
      (self.recorder, steps) = (recorder, recorder.waitingSteps)
    }
  }

  /// Shows how far the recorder is, which tells that once a second.
  func show(_ progress: RecorderProgress) {
    if isRecording { return screen.send(.recorder(.ownProgressed(progress))) }
    guard var saving, case let left = saving.recorder.waitingSteps, left <= saving.steps
    else { return }
    var reading = progress
    (reading.done, reading.total) = (saving.steps - left, saving.steps)
    let step = saving.progress.push(
      reading, completed: UInt64(saving.steps - left), total: UInt64(saving.steps), at: clock.now)
    self.saving = saving
    if let due = step.output { screen.send(.recorder(.ownProgressed(due))) }
  }

  /// Whether something about the recorder is under way, or has to be tried again.
  var isRecorderUnfinished: Bool {
    let isShown = recorder.own?.state == .recording
    let hasFailed = recorder.work.map { $0.failures > 0 || $0.failure != nil } ?? false
    return recorder.work?.wish != nil || isShown != isRecording || hasFailed
  }

  /// After a restart: what was under way is begun anew.
  func resumeRecorder() {
    guard isRecorderUnfinished else { return }
    perform(.restarted(isRecording: isRecording))
  }
}

/// Who waits for what is wanted of a room's recorder.
final class RecorderWaiters {
  typealias Completion = @Sendable (Result<RecorderOutcome, ControlError>) -> Void
  private var completions: [Int: Completion] = [:]

  func whenEnded(_ attempt: Int, _ completion: @escaping Completion) {
    completions[attempt] = completion
  }

  func end(_ attempt: Int, _ outcome: RecorderOutcome) {
    completions.removeValue(forKey: attempt)?(.success(outcome))
  }

  /// Ends all waits: the room goes.
  func endAll(_ error: ControlError) {
    for completion in exchange(&completions, with: [:]).values { completion(.failure(error)) }
  }
}
