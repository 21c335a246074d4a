import Composable
import ComposableTesting
import LiveEvents
import RecorderFeature
import Synchronization
import Testing

/// A recorder that completes its calls when the test calls it.
private final class Machine: Sendable {
  private struct Broken: Error, CustomStringConvertible { let description: String }
  private typealias Call = CheckedContinuation<Void, any Error>

  private let waiting = Mutex<[Int: Call]>([:])
  private let names = Mutex<[String]>([])

  var client: Recorder {
    Recorder(
      start: { [self] in
        try await call("start", $0)
        return "main-\($0)"
      },
      stop: { [self] in
        try await call("stop", $0)
        return SavedRecording(name: "main-1", bytes: 900, durationMilliseconds: 2_000)
      },
      pause: { [self] in try await call("pause", $0) },
      resume: { [self] in try await call("resume", $0) })
  }

  /// The calls so far.
  var calls: [String] { names.withLock { $0 } }

  private func call(_ name: String, _ attempt: Int) async throws {
    names.withLock { $0.append("\(name) \(attempt)") }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { call in
        waiting.withLock { $0[attempt] = call }
      }
    } onCancel: {
      waiting.withLock { $0.removeValue(forKey: attempt) }?.resume(throwing: CancellationError())
    }
  }

  /// Completes or fails all calls that were not cancelled.
  func finish(failure: String? = nil) {
    let calls = waiting.withLock { waiting in
      defer { waiting = [:] }
      return Array(waiting.values)
    }
    for call in calls {
      call.resume(with: failure.map { .failure(Broken(description: $0)) } ?? .success(()))
    }
  }
}

/// The room's own recorder, which effects start and stop.
@Suite struct OwnRecorderTests {
  private typealias State = RecorderFeature.State
  private typealias TestedStore = TestStore<State, RecorderFeature.Action>

  private let clock = TestClock()
  private let machine = Machine()

  private func makeStore(
    _ own: RecorderState? = nil, _ work: RecorderWork? = nil
  ) -> TestedStore {
    var state = State()
    state.own = own.map(activity)
    state.work = work
    let dependencies = Dependencies.test(clock: clock).overriding(machine.client)
    return TestStore(initialState: state, clock: clock) {
      RecorderFeature(dependencies: dependencies)
    }
  }

  private func activity(_ state: RecorderState) -> RecorderActivity {
    var activity = RecorderActivity()
    activity.state = state
    return activity
  }

  private func work(
    _ attempt: Int, _ wish: RecorderWish? = nil, retries: Bool = false, isWaiting: Bool = false,
    failures: Int = 0, failure: String? = nil, recording: String? = nil
  ) -> RecorderWork {
    var work = RecorderWork()
    (work.attempt, work.wish, work.retries, work.isWaiting) = (attempt, wish, retries, isWaiting)
    (work.failures, work.failure, work.recording) = (failures, failure, recording)
    return work
  }

  private func wish(_ wish: RecorderWish, retries: Bool = false) -> RecorderFeature.Action {
    .own(.wished(wish: wish, retries: retries))
  }

  private func ended(_ attempt: Int, _ outcome: RecorderOutcome) -> RecorderFeature.Action {
    .own(.ended(attempt: attempt, outcome: outcome))
  }

  // MARK: Success

  @Test func `the room's recording is started, paused, resumed, and saved`() async {
    let store = makeStore()
    await store.send(wish(.start)) {
      $0.own = activity(.starting)
      $0.work = work(1, .start)
    }
    machine.finish()
    await store.receive(ended(1, .started(recording: "main-1"))) {
      $0.own?.state = .recording
      $0.work = work(1, recording: "main-1")
    }
    await store.receive(.delegate(.isRecordingChanged(true)))
    await store.receive(.delegate(.attemptEnded(1, .started(recording: "main-1"))))

    await store.send(wish(.pause)) {
      $0.own?.state = .paused
      $0.work = work(2, .pause, recording: "main-1")
    }
    machine.finish()
    await store.receive(ended(2, .paused)) { $0.work?.wish = nil }
    await store.receive(.delegate(.attemptEnded(2, .paused)))
    await store.send(wish(.resume)) { $0.work = work(3, .resume, recording: "main-1") }
    machine.finish()
    await store.receive(ended(3, .resumed)) {
      $0.own?.state = .recording
      $0.work?.wish = nil
    }
    await store.receive(.delegate(.attemptEnded(3, .resumed)))

    await store.send(wish(.stop)) {
      $0.own?.state = .stopping
      $0.work = work(4, .stop, recording: "main-1")
    }
    await store.receive(.delegate(.isRecordingChanged(false)))
    let progress = RecorderProgress(bytes: 800, durationMilliseconds: 1_900, done: 1, total: 2)
    await store.send(.ownProgressed(progress)) { $0.own = $0.own?.with(progress) }
    machine.finish()
    let saved = SavedRecording(name: "main-1", bytes: 900, durationMilliseconds: 2_000)
    await store.receive(ended(4, .saved(recording: saved))) {
      $0.own = activity(.idle)
      $0.own?.bytes = 900
      $0.own?.durationMilliseconds = 2_000
      $0.work?.wish = nil
    }
    await store.receive(.delegate(.attemptEnded(4, .saved(recording: saved))))
    #expect(machine.calls == ["start 1", "pause 2", "resume 3", "stop 4"])
    await store.finish()
  }

  // MARK: Failure

  @Test func `a failed start of a recording is reported to its requester and not repeated`() async {
    let store = makeStore()
    await store.send(wish(.start)) {
      $0.own = activity(.starting)
      $0.work = work(1, .start)
    }
    machine.finish(failure: "no disk")
    await store.receive(ended(1, .failed(reason: "no disk"))) {
      $0.own = activity(.failed)
      $0.work = work(1, failures: 1, failure: "no disk")
    }
    await store.receive(.delegate(.attemptEnded(1, .failed(reason: "no disk"))))
    clock.advance(by: .seconds(3_600))
    await store.finish()
  }

  @Test
  func `a start that nobody waits for is repeated at growing intervals until it succeeds`()
    async
  {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(wish(.start, retries: true))
    var attempt = 1
    for delay in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
      machine.finish(failure: "no disk")
      await store.receive(ended(attempt, .failed(reason: "no disk"))) {
        $0.own = activity(.failed)
        $0.work = work(
          attempt, .start, retries: true, isWaiting: true, failures: attempt, failure: "no disk")
      }
      #expect(store.state.work?.retryDelay == .seconds(delay))
      clock.advance(by: .seconds(delay) - .milliseconds(1))
      #expect(store.state.work?.isWaiting == true)
      clock.advance(by: .milliseconds(1))
      await store.receive(.own(.due(attempt: attempt))) {
        $0.own = activity(.starting)
        $0.work?.isWaiting = false
        $0.work?.attempt = attempt + 1
      }
      attempt += 1
    }
    machine.finish()
    await store.receive(ended(attempt, .started(recording: "main-9"))) {
      $0.own?.state = .recording
      $0.work?.failure = nil
      $0.work?.wish = nil
      $0.work?.recording = "main-9"
    }
    #expect(store.state.work?.failures == 8, "it has yet to prove itself")
    clock.advance(by: .seconds(60))
    await store.receive(.own(.proven(attempt: attempt))) { $0.work?.failures = 0 }
    #expect(machine.calls.count == 9)
    await store.finish()
  }

  @Test func `after a recording has failed, another one is started`() async {
    let store = makeStore(.recording, work(1, recording: "main-1"))
    await store.send(.own(.failed(reason: "disk full"))) {
      $0.own?.state = .failed
      $0.work = work(
        1, .start, retries: true, isWaiting: true, failures: 1, failure: "disk full",
        recording: "main-1")
    }
    await store.receive(.delegate(.isRecordingChanged(false)))
    clock.advance(by: .seconds(1))
    await store.receive(.own(.due(attempt: 1))) {
      $0.own?.state = .starting
      $0.work?.isWaiting = false
      $0.work?.attempt = 2
    }
    machine.finish()
    await store.receive(ended(2, .started(recording: "main-2"))) {
      $0.own?.state = .recording
      $0.work = work(2, retries: true, failures: 1, recording: "main-2")
    }
    await store.receive(.delegate(.isRecordingChanged(true)))
    await store.receive(.delegate(.attemptEnded(2, .started(recording: "main-2"))))
    // This recording fails before it has run long enough to reset the failures.
    await store.send(.own(.failed(reason: "disk full"))) {
      $0.own?.state = .failed
      $0.work = work(
        2, .start, retries: true, isWaiting: true, failures: 2, failure: "disk full",
        recording: "main-2")
    }
    await store.receive(.delegate(.isRecordingChanged(false)))
    #expect(store.state.work?.retryDelay == .seconds(2))
    await store.skipInFlightEffects()
    await store.finish()
  }

  @Test func `a recording that cannot be resumed stays paused and can be resumed later`() async {
    let store = makeStore(.paused, work(1, recording: "main-1"))
    store.exhaustivity = .off
    await store.send(wish(.resume))
    machine.finish(failure: "no disk")
    await store.receive(ended(2, .failed(reason: "no disk"))) {
      $0.own?.state = .paused
      $0.work = work(2, failures: 1, failure: "no disk", recording: "main-1")
    }
    await store.send(wish(.resume, retries: true)) {
      $0.work = work(3, .resume, retries: true, recording: "main-1")
    }
    machine.finish(failure: "no disk")
    await store.receive(ended(3, .failed(reason: "no disk"))) { $0.work?.isWaiting = true }
    clock.advance(by: .seconds(1))
    await store.receive(.own(.due(attempt: 3))) { $0.own?.state = .paused }
    machine.finish()
    await store.receive(ended(4, .resumed)) { $0.own?.state = .recording }
    await store.skipInFlightEffects()
    await store.finish()
  }

  @Test(arguments: [RecorderWish.start, .stop])
  func `a call that the disk blocks is shown as failing until the disk responds`(
    wanted: RecorderWish
  ) async {
    let store = makeStore(wanted == .start ? nil : .recording)
    store.exhaustivity = .off
    await store.send(wish(wanted))
    clock.advance(by: .milliseconds(9_999))
    #expect(store.state.work == work(1, wanted))
    clock.advance(by: .milliseconds(1))
    await store.receive(.own(.stalled(attempt: 1))) {
      $0.work?.failure = "the disk does not respond"
    }
    #expect(store.state.own?.state == (wanted == .start ? .starting : .stopping))
    #expect(store.state.work?.wish == wanted, "it is not given up")
    machine.finish()
    await store.skipReceivedActions(strict: false)
    await store.finish()
    #expect(store.state.work?.failure == nil)
    #expect(store.state.own?.state == (wanted == .start ? .recording : .idle))
  }

  @Test func `a recording is shown as stalled until its disk responds or the daemon restarts`()
    async
  {
    let silent = "the disk does not respond"
    let store = makeStore(.recording)
    await store.send(.own(.disk(answers: true)))
    await store.send(.own(.disk(answers: false))) {
      $0.work = RecorderWork()
      $0.work?.failure = silent
    }
    await store.send(.own(.disk(answers: true))) { $0.work?.failure = nil }
    await store.send(.own(.disk(answers: false))) { $0.work?.failure = silent }
    await store.send(.own(.restarted(isRecording: true))) { $0.work?.failure = nil }
    await store.finish()

    let idle = makeStore(.idle)
    await idle.send(.own(.disk(answers: false)))
    await idle.finish()
  }

  @Test func `an attempt to record that ends in time or was abandoned is not reported as stalled`()
    async
  {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(wish(.start))
    clock.advance(by: .seconds(9))
    machine.finish()
    await store.receive(ended(1, .started(recording: "main-1")))
    clock.advance(by: .seconds(60))
    await store.send(wish(.pause))
    clock.advance(by: .seconds(9))
    await store.send(wish(.stop))
    clock.advance(by: .seconds(9))
    #expect(store.state.work?.failure == nil)
    clock.advance(by: .seconds(1))
    await store.receive(.own(.stalled(attempt: 3)))
    machine.finish()
    await store.skipReceivedActions(strict: false)
    await store.finish()
  }

  @Test func `a recording that cannot be closed or paused fails and is abandoned`() async {
    for wanted in [RecorderWish.stop, .pause] {
      let store = makeStore(.recording, work(1, recording: "main-1"))
      store.exhaustivity = .off
      await store.send(wish(wanted, retries: true))
      machine.finish(failure: "no disk")
      await store.receive(ended(2, .failed(reason: "no disk"))) {
        $0.own?.state = .failed
        $0.work = work(2, failures: 1, failure: "no disk", recording: "main-1")
      }
      clock.advance(by: .seconds(3_600))
      await store.finish()
    }
  }

  // MARK: The opposite

  @Test func `a stop cancels a start in progress, whose result is ignored`() async {
    let store = makeStore()
    await store.send(wish(.start, retries: true)) {
      $0.own = activity(.starting)
      $0.work = work(1, .start, retries: true)
    }
    await store.send(wish(.stop)) {
      $0.own = activity(.idle)
      $0.work = work(2)
    }
    await store.receive(.delegate(.attemptEnded(1, .replaced)))
    await store.receive(.delegate(.attemptEnded(2, .saved(recording: nil))))
    machine.finish()
    await store.send(ended(1, .started(recording: "late")))
    await store.finish()
  }

  @Test func `a stop ends the repeated attempts to record`() async {
    let store = makeStore(.recording)
    store.exhaustivity = .off
    await store.send(.own(.failed(reason: "disk full")))
    await store.send(wish(.stop)) {
      $0.own?.state = .idle
      $0.work = work(1)
    }
    store.exhaustivity = .on
    await store.receive(.delegate(.attemptEnded(1, .saved(recording: nil))))
    clock.advance(by: .seconds(3_600))
    await store.finish()
  }

  @Test func `a waiting start replaces a waiting stop, and a pause replaces a resume`() async {
    let stopping = makeStore(.recording)
    stopping.exhaustivity = .off
    await stopping.send(wish(.stop))
    await stopping.send(wish(.start)) { $0.own = activity(.starting) }
    await stopping.receive(.delegate(.attemptEnded(1, .replaced)))
    machine.finish()
    await stopping.receive(ended(2, .started(recording: "main-2")))
    await stopping.finish()

    let resuming = makeStore(.paused)
    resuming.exhaustivity = .off
    await resuming.send(wish(.resume, retries: true))
    await resuming.send(wish(.pause)) { $0.work = work(2, .pause) }
    await resuming.receive(.delegate(.attemptEnded(1, .replaced)))
    machine.finish()
    await resuming.receive(ended(2, .paused)) { $0.own?.state = .paused }
    await resuming.finish()
  }

  @Test func `a start that a requester waits for does not end the repeated attempts to record`()
    async
  {
    let store = makeStore(.recording)
    store.exhaustivity = .off
    await store.send(.own(.failed(reason: "disk full")))
    await store.send(wish(.start)) {
      $0.work = work(1, .start, retries: true, failures: 1, failure: "disk full")
    }
    machine.finish(failure: "disk full")
    await store.receive(ended(1, .failed(reason: "disk full"))) { $0.work?.isWaiting = true }
    await store.receive(.delegate(.attemptEnded(1, .failed(reason: "disk full"))))
    await store.skipInFlightEffects()
    await store.finish()
  }

  @Test(arguments: [
    (RecorderState?.none, [RecorderWish.start]), (.idle, [.start]), (.failed, [.start]),
    (.starting, [.stop]), (.recording, [.stop, .pause]), (.paused, [.stop, .resume]),
    (.stopping, [.start]),
  ])
  func `only requests that fit the state of the recorder are accepted`(
    own: RecorderState?, accepted: [RecorderWish]
  ) async {
    for wanted in RecorderWish.allCases {
      let store = makeStore(own)
      #expect(store.state.accepts(wanted) == accepted.contains(wanted), "\(wanted)")
      guard !accepted.contains(wanted) else { continue }
      await store.send(wish(wanted))
      await store.finish()
    }
  }

  // MARK: Late results, and the end of the room

  @Test func `results of the recorder's calls that arrive too late change nothing`() async {
    let store = makeStore(.recording, work(3, recording: "main-3"))
    let inputs: [RecorderInput] = [
      .ended(attempt: 3, outcome: .started(recording: "main-3")),
      .ended(attempt: 2, outcome: .failed(reason: "no disk")),
      .due(attempt: 3), .due(attempt: 2), .proven(attempt: 2), .stalled(attempt: 3),
    ]
    for input in inputs { await store.send(.own(input)) }
    let stopped = makeStore(.idle, work(3))
    await stopped.send(.own(.failed(reason: "late")))
    await stopped.send(.own(.proven(attempt: 3)))
    await store.finish()
    await stopped.finish()
  }

  @Reducer
  struct Room {
    @ObservableState
    struct State: Equatable {
      var recorder: RecorderFeature.State?
    }

    enum Action: Equatable, Sendable {
      case recorder(RecorderFeature.Action)
      case closed
    }

    let dependencies: Dependencies

    var body: ReducerSteps<State, Action> {
      Reduce { state, action in
        if action == .closed { state.recorder = nil }
        return .none
      }
      .ifLet(\.recorder, action: \.recorder) { RecorderFeature(dependencies: dependencies) }
    }
  }

  @Test func `the effects of the recorder end with the feature that started them`() async {
    let dependencies = Dependencies.test(clock: clock).overriding(machine.client)
    for failure in [nil, "no disk"] {
      let store = TestStore(
        initialState: Room.State(recorder: RecorderFeature.State()), clock: clock
      ) { Room(dependencies: dependencies) }
      store.exhaustivity = .off
      await store.send(.recorder(wish(.start, retries: true)))
      // The feature ends once during the attempt, and once during the wait for the next attempt.
      if let failure {
        machine.finish(failure: failure)
        await store.receive(.recorder(ended(1, .failed(reason: failure))))
      }
      await store.send(.closed) { $0.recorder = nil }
      store.exhaustivity = .on
      machine.finish()
      clock.advance(by: .seconds(60))
      await store.finish()
    }
  }

  @Test func `a test that uses a recorder without setting it fails with the dependency's name`()
    async
  {
    await withKnownIssue {
      let store = TestStore(initialState: State(), clock: clock) {
        RecorderFeature(dependencies: .test(clock: clock))
      }
      store.exhaustivity = .off
      await store.send(wish(.start))
      await store.skipInFlightEffects(strict: false)
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("The dependency 'Recorder' was used") }
    }
  }

  // MARK: Restarts

  @Test func `after a restart, interrupted calls of the recorder start again without a requester`()
    async
  {
    for (own, wanted) in [
      (RecorderState.starting, RecorderWish.start), (.stopping, .stop), (.paused, .pause),
      (.paused, .resume),
    ] {
      let store = makeStore(own, work(4, wanted, recording: "main-1"))
      store.exhaustivity = .off
      await store.send(.own(.restarted(isRecording: false))) {
        $0.own = activity(own)
        $0.work = work(5, wanted, retries: true, recording: "main-1")
      }
      machine.finish(failure: "no disk")
      await store.receive(\.own)
      #expect(store.state.work?.isWaiting == (wanted == .start || wanted == .resume))
      await store.skipInFlightEffects(strict: false)
      await store.finish()
    }
    #expect(machine.calls == ["start 5", "stop 5", "pause 5", "resume 5"])
  }

  @Test func `after a restart, the recorder waits again for the next attempt`() async {
    let store = makeStore(
      .failed, work(4, .start, retries: true, isWaiting: true, failures: 3, failure: "no disk"))
    store.exhaustivity = .off
    await store.send(.own(.restarted(isRecording: false)))
    clock.advance(by: .seconds(4))
    await store.receive(.own(.due(attempt: 4))) { $0.own?.state = .starting }
    machine.finish()
    await store.receive(ended(5, .started(recording: "main-5")))
    // The wait that resets the failures also restarts.
    await store.send(.own(.restarted(isRecording: true)))
    clock.advance(by: .seconds(60))
    await store.receive(.own(.proven(attempt: 5))) { $0.work?.failures = 0 }
    await store.finish()
  }

  @Test(arguments: RecorderState.allCases)
  func `after a restart, the recorder shows whether the room is being recorded`(
    own: RecorderState
  ) async {
    let ended = makeStore(own)
    ended.exhaustivity = .off
    await ended.send(.own(.restarted(isRecording: false)))
    let stays = own == .paused || own == .failed
    #expect(ended.state.own?.state == (stays ? own : .idle))
    let continued = makeStore(own)
    continued.exhaustivity = .off
    await continued.send(.own(.restarted(isRecording: true)))
    #expect(continued.state.own?.state == .recording)
    await ended.finish()
    await continued.finish()
  }
}

extension RecorderActivity {
  fileprivate func with(_ progress: RecorderProgress) -> RecorderActivity {
    var next = self
    next.bytes = progress.bytes
    next.durationMilliseconds = progress.durationMilliseconds
    (next.done, next.total) = (progress.done, progress.total)
    return next
  }
}
