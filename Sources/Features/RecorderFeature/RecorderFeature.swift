package import Composable
package import LiveEvents

/// The state and progress of a room's recorders: an external recorder, which reports its state by
/// events, and the room's own recorder, which this feature starts and stops.
///
/// An effect attempts each request to the room's own recorder, and the result of the effect arrives
/// as an input. If no client waits for the outcome of a start, or if the start replaces a failed
/// recording, a failed start is repeated until it succeeds or another request replaces it.
@Reducer
package struct RecorderFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The external recorder, such as the recorder of the streaming program.
    package var elsewhere = RecorderActivity()
    /// The room's own recording, or `nil` until a recording is started.
    package var own: RecorderActivity?
    /// The work of the room's own recorder, or `nil` until anything is requested.
    package var work: RecorderWork?

    package init() {}

    package var isRecording: Bool { elsewhere.isRecording || own?.isRecording ?? false }
  }

  package enum Action: Equatable, Sendable {
    case stateChanged(RecorderState)
    case progressed(RecorderProgress)
    case own(RecorderInput)
    case ownProgressed(RecorderProgress)
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// A first recorder started recording the room, or the last recorder stopped.
    case isRecordingChanged(Bool)
    /// An attempt has ended, so its outcome can be reported to its requester.
    case attemptEnded(Int, RecorderOutcome)
  }

  private let dependencies: Dependencies

  package init(dependencies: Dependencies = .live()) { self.dependencies = dependencies }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .stateChanged(let new):
      return update(&state) { $0.elsewhere = $0.elsewhere.entering(new) }
    case .progressed(let progress):
      return update(&state) { $0.elsewhere = $0.elsewhere.after(progress) }
    case .own(let input):
      var effect = Effect<Action>.none
      let change = update(&state) { effect = apply(input, in: &$0) }
      return change.followed(by: effect)
    case .ownProgressed(let progress):
      // Progress without a recording is a late report about a removed recording.
      return update(&state) { $0.own = $0.own?.after(progress) }
    case .delegate:
      return .none
    }
  }

  /// Applies a change, and notifies the parent if the room starts or stops being recorded. A change
  /// must assign whole values, because mutating a value in place would notify observers even if
  /// nothing changes.
  private func update(_ state: inout State, _ change: (inout State) -> Void) -> Effect<Action> {
    let before = state.isRecording
    change(&state)
    let after = state.isRecording
    return before == after ? .none : .send(.delegate(.isRecordingChanged(after)))
  }
}

// MARK: The room's own recorder

extension RecorderFeature {
  /// How long a recording must run before earlier failures are forgotten.
  private static let probation = Duration.seconds(60)

  /// The time after which an attempt is reported as failing with ``silence``. An unresponsive disk
  /// can block a call forever, and nothing can end the call.
  private static let patience = Duration.seconds(10)
  private static let silence = "the disk does not respond"

  /// Identifies the effect that makes an attempt or waits for the next attempt. At most one such
  /// effect runs at a time.
  private struct AttemptID: Hashable {}

  private func apply(_ input: RecorderInput, in state: inout State) -> Effect<Action> {
    switch input {
    case .wished(let wish, let retries):
      guard state.accepts(wish) else { return .none }
      return begin(wish, retries: retries, in: &state)
    case .ended(let attempt, let outcome):
      guard var work = state.work, work.isAttempting(attempt), let wish = work.wish else {
        return .none
      }
      let next = end(wish, outcome, &work, in: &state)
      state.work = work
      // The outcome is known, so the effect is no longer needed.
      let effect = Effect<Action>.cancel(id: AttemptID()).followed(by: next)
      return effect.followed(by: .send(.delegate(.attemptEnded(attempt, outcome))))
    case .stalled(let attempt):
      guard state.work?.isAttempting(attempt) == true else { return .none }
      state.work?.failure = Self.silence
      return .none
    case .due(let attempt):
      guard var work = state.work, work.isWaiting, work.attempt == attempt else { return .none }
      work.isWaiting = false
      work.attempt += 1
      state.work = work
      if work.wish == .start { state.own = RecorderActivity().entering(.starting) }
      return carryOut(work)
    case .failed(let reason):
      guard state.own?.state == .recording else { return .none }
      var work = state.work ?? RecorderWork()
      state.own = state.own?.entering(.failed)
      (work.wish, work.retries) = (.start, true)
      let effect = retry(after: reason, &work)
      state.work = work
      return effect
    case .disk(let answers):
      if answers {
        clearSilence(&state)
      } else if state.own?.isRecording == true {
        var work = state.work ?? RecorderWork()
        work.failure = Self.silence
        state.work = work
      }
      return .none
    case .proven(let attempt):
      guard state.work?.attempt == attempt, state.own?.state == .recording else { return .none }
      state.work?.failures = 0
      return .none
    case .restarted(let isRecording):
      return restart(isRecording: isRecording, &state)
    }
  }

  /// Attempts a request, replacing the current attempt.
  private func begin(
    _ wish: RecorderWish, retries: Bool, in state: inout State
  ) -> Effect<Action> {
    var work = state.work ?? RecorderWork()
    let own = state.own ?? RecorderActivity()
    var replaced = Effect<Action>.cancel(id: AttemptID())
    if work.isAttempting(work.attempt) {
      replaced = replaced.followed(by: .send(.delegate(.attemptEnded(work.attempt, .replaced))))
    }
    work.attempt += 1
    // Repeating a request does not revoke the earlier request's retries.
    let isRepeated = work.wish == wish
    work.retries = retries || work.retries && isRepeated
    if !isRepeated { (work.failures, work.failure) = (0, nil) }
    (work.wish, work.isWaiting) = (wish, false)
    var next = own
    switch wish {
    case .start:
      (next, work.recording) = (own.entering(.starting), nil)
    case .stop:
      // If no recording has started, nothing must be closed, and the attempt is only abandoned.
      next.state = own.isRecording ? .stopping : .idle
    case .pause: next.state = .paused
    // The recording counts as paused until it has certainly resumed.
    case .resume: break
    }
    state.own = next
    let isAbandoned = next.state == .idle
    if isAbandoned { work.wish = nil }
    state.work = work
    return replaced.followed(
      by: isAbandoned
        ? .send(.delegate(.attemptEnded(work.attempt, .saved(recording: nil)))) : carryOut(work))
  }

  private func end(
    _ wish: RecorderWish, _ outcome: RecorderOutcome, _ work: inout RecorderWork,
    in state: inout State
  ) -> Effect<Action> {
    if case .failed(let reason) = outcome {
      // A paused recording stays as it is until it is closed.
      if wish != .resume { state.own = state.own?.entering(.failed) }
      return retry(after: reason, &work)
    }
    (work.wish, work.failure) = (nil, nil)
    switch outcome {
    case .started(let recording):
      work.recording = recording
      state.own = state.own?.entering(.recording)
    case .resumed: state.own = state.own?.entering(.recording)
    case .saved(let saved):
      state.own = state.own?.saved(saved)
      work.recording = saved?.name
    case .paused, .failed, .replaced: break
    }
    return state.own?.state == .recording && work.failures > 0 ? prove(work.attempt) : .none
  }

  /// Waits for the next attempt, or gives up.
  private func retry(after reason: String, _ work: inout RecorderWork) -> Effect<Action> {
    work.failures += 1
    work.failure = reason
    // A failed recorder cannot be closed again, and the data on disk stays there.
    guard work.retries, work.wish == .start || work.wish == .resume else {
      (work.wish, work.retries) = (nil, false)
      return .none
    }
    work.isWaiting = true
    return wait(work)
  }

  private func clearSilence(_ state: inout State) {
    if state.work?.failure == Self.silence { state.work?.failure = nil }
  }

  /// Repeats the work that a restart of the daemon interrupted, although no client waits for its
  /// outcome.
  private func restart(isRecording: Bool, _ state: inout State) -> Effect<Action> {
    clearSilence(&state)
    if var work = state.work, work.wish != nil {
      if work.isWaiting { return wait(work) }
      work.retries = true
      work.attempt += 1
      state.work = work
      return carryOut(work)
    }
    guard isRecording else {
      switch state.own?.state {
      case .starting, .recording, .stopping: state.own = state.own?.entering(.idle)
      case .idle, .paused, .failed, nil: break
      }
      return .none
    }
    state.own = (state.own ?? RecorderActivity()).entering(.recording)
    return state.work.map { $0.failures > 0 ? prove($0.attempt) : .none } ?? .none
  }

  private func carryOut(_ work: RecorderWork) -> Effect<Action> {
    guard let wish = work.wish else { return .none }
    let (recorder, attempt) = (dependencies[Recorder.self], work.attempt)
    let carryOut = Effect<Action>.run(name: "RecorderFeature.\(wish)") { send in
      let outcome: RecorderOutcome
      do {
        switch wish {
        case .start: outcome = .started(recording: try await recorder.start(attempt))
        case .stop: outcome = .saved(recording: try await recorder.stop(attempt))
        case .pause:
          try await recorder.pause(attempt)
          outcome = .paused
        case .resume:
          try await recorder.resume(attempt)
          outcome = .resumed
        }
      } catch let error as CancellationError {
        throw error
      } catch {
        outcome = .failed(reason: "\(error)")
      }
      send(.own(.ended(attempt: attempt, outcome: outcome)))
    }
    let notice = sleep(Self.patience, .stalled(attempt: attempt), "RecorderFeature.patience")
    return .merge(carryOut, notice).cancellable(id: AttemptID(), cancelInFlight: true)
  }

  private func wait(_ work: RecorderWork) -> Effect<Action> {
    after(work.delay, .due(attempt: work.attempt), "RecorderFeature.retry")
  }

  private func prove(_ attempt: Int) -> Effect<Action> {
    after(Self.probation, .proven(attempt: attempt), "RecorderFeature.probation")
  }

  private func after(
    _ delay: Duration, _ input: RecorderInput, _ name: String
  ) -> Effect<Action> {
    sleep(delay, input, name).cancellable(id: AttemptID(), cancelInFlight: true)
  }

  private func sleep(
    _ delay: Duration, _ input: RecorderInput, _ name: String
  ) -> Effect<Action> {
    let clock = dependencies.clock
    return .run(name: name) { send in
      try await clock.sleep(for: delay)
      send(.own(input))
    }
  }
}

extension RecorderFeature.Action {
  /// The input that records the result of an effect. `nil` for other actions.
  package var input: RecorderInput? {
    switch self {
    case .own(let input): input
    case .stateChanged, .progressed, .ownProgressed, .delegate: nil
    }
  }
}

extension RecorderFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(elsewhere, "elsewhere")
    try check(own, "own")
    try check(work, "work")
  }
}
