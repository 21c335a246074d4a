public import Composable
import IssueReporting

/// A store for tests, which reduces the actions that the test sends and holds back actions of
/// effects until the test receives them. The store compares each state with the state that the test
/// expects.
///
///     let store = TestStore(initialState: Counter.State()) { Counter() }
///     await store.send(.factButtonTapped) { $0.isLoading = true }
///     await store.receive(.factLoaded("…")) {
///       $0.isLoading = false
///       $0.fact = "…"
///     }
///     await store.finish()
///
/// The store is exhaustive by default. A state change that is not asserted, an action that is not
/// received, and an effect that is still running when the store is deallocated are failures, shown
/// with a diff. Effects run on a ``ManualLane``, and no call waits in real time unless the test
/// passes a timeout. Use a test store in one test only.
public final class TestStore<State: ObservableState & Equatable, Action: Sendable> {
  let store: Store<State, Action>
  private let origin: CallSite
  private var isFinished = false
  /// An action that waits to be received, and the tracked send that caused it.
  struct Waiting {
    let action: Action
    let origin: UInt64
  }

  /// The actions that follow from the last reduced action, which a store reduces before all others.
  private var feedback: [Waiting] = []
  /// The actions sent by effects.
  private var arrived: [Waiting] = []
  var received: [Action] { (feedback + arrived).map(\.action) }

  /// The extent to which the test must assert everything that happens.
  public var exhaustivity = Exhaustivity.on

  /// The clock of the test, whose lane is the store's lane.
  public let clock: TestClock

  /// The store's lane.
  public var lane: ManualLane { clock.lane }

  /// The current state.
  public var state: State { store.state }

  /// Makes a test store of the feature that `reducer` makes. Pass `clock` if the feature uses a
  /// clock; its lane is the store's lane.
  public init<R: Reducer>(
    initialState: State, clock: TestClock = TestClock(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column, reducer: () -> R
  ) where R.State == State, R.Action == Action {
    self.clock = clock
    origin = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    store = Store(
      initialState: initialState, lane: clock.lane, notification: .batched, reducer: reducer)
    store.effectActionSink = { [unowned self] action, origin, isFeedback in
      let waiting = Waiting(action: action, origin: origin)
      if isFeedback { feedback.append(waiting) } else { arrived.append(waiting) }
    }
    store.onFailure = { [unowned self] in fail("\(Self.describe($0))", at: origin) }
    lane.onEndlessRun = { [weak self] in self?.endEndlessRun(of: $0) }
  }

  private func endEndlessRun(of names: [String]) {
    let running = store.runningEffectDescriptions.filter { description in
      names.contains { description == $0 || description.hasPrefix("\($0) (") }
    }
    fail(ManualLane.describe(running.isEmpty ? names : running, lane.turnLimit), at: origin)
    store.cancelEffects()
  }

  deinit {
    store.effectActionSink = nil
    store.onFailure = nil
    if !isFinished { checkNothingIsLeft(at: origin) }
  }

  /// Sends `action` like a user of the feature.
  ///
  /// - Parameters:
  ///   - expected: Receives the state from before the action, and changes it to the state that is
  ///     expected afterwards. If ``exhaustivity`` is off, the closure may also start from the state
  ///     after the action and set only some fields.
  /// - Returns: A handle to the effects of this action.
  @discardableResult
  public nonisolated(nonsending) func send(
    _ action: Action, assert expected: ((inout State) throws -> Void)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) async -> TestEffects<State, Action> {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    lane.run()
    if !received.isEmpty {
      switch exhaustivity {
      case .on:
        fail(
          """
          Must receive \(received.count) \(received.count == 1 ? "action" : "actions") \
          before sending another one: \(list(received))
          """, at: site)
      case .off: skipAll(at: site)
      }
    }
    isFinished = false
    let origin = store.nextOrigin
    apply(Waiting(action: action, origin: origin), expected, verb: "sent", at: site)
    return TestEffects(store: self, effects: store.effects(of: origin))
  }

  /// Checks the current state: `expected` assigns the expected values, which must leave the state
  /// unchanged.
  ///
  ///     store.assert { $0.count = 3 }
  public func assert(
    _ expected: (inout State) throws -> Void, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    var state = state
    do {
      try expected(&state)
    } catch {
      fail("The expectation threw an error: \(error)", at: site)
    }
    guard state != self.state else { return }
    fail(
      "The state is not as expected:\n\n\(difference(expected: state, actual: self.state))",
      at: site)
  }

  /// Removes the next action to be received. O(n) in the number of waiting actions.
  func removeFirst() -> Waiting {
    isFinished = false
    return feedback.isEmpty ? arrived.removeFirst() : feedback.removeFirst()
  }

  /// Reduces the next action to be received, without checking the state.
  func skipFirst() {
    let waiting = removeFirst()
    store.send(waiting.action, origin: waiting.origin)
    lane.run()
  }

  /// Runs the lane until it is idle, and checks that no effect is running and no action waits to be
  /// received. The test may continue afterwards and is checked as strictly as before.
  /// - Parameter timeout: The real time to wait for effects that use something other than the
  ///   test's clock. By default none.
  public nonisolated(nonsending) func finish(
    timeout: Duration = .zero, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
  ) async {
    await wait(timeout) { self.store.runningEffects == 0 }
    isFinished = true
    checkNothingIsLeft(
      at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Reduces the received actions without checking the state. With `strict`, it is a failure if no
  /// action was received.
  public nonisolated(nonsending) func skipReceivedActions(
    strict: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    lane.run()
    if received.isEmpty, strict { fail("There were no received actions to skip.", at: site) }
    skipAll(at: site)
  }

  /// Cancels the running effects. With `strict`, it is a failure if no effect is running.
  public nonisolated(nonsending) func skipInFlightEffects(
    strict: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    lane.run()
    let running = store.runningEffectDescriptions
    if running.isEmpty, strict { fail("There were no effects in flight to skip.", at: site) }
    if !running.isEmpty {
      show("Cancelled effects in flight: \(running.joined(separator: ", "))", at: site)
    }
    store.cancelEffects()
    lane.run()
  }

  func skipAll(at site: CallSite) {
    if !received.isEmpty { show("Skipped received actions: \(list(received))", at: site) }
    while !received.isEmpty { skipFirst() }
  }

  /// Reports something that a non-exhaustive test skipped, if the test asked for that.
  func show(_ message: @autoclosure () -> String, at site: CallSite) {
    guard exhaustivity == .off(showSkippedAssertions: true) else { return }
    let message = message()
    withExpectedIssue(
      fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column
    ) { fail(message, at: site) }
  }

  private func checkNothingIsLeft(at site: CallSite) {
    let report = exhaustivity == .on ? fail : { self.show($0, at: $1) }
    if !received.isEmpty {
      report("The store received unexpected actions: \(list(received))", site)
    }
    let running = store.runningEffectDescriptions
    if !running.isEmpty {
      report(
        """
        \(running.count == 1 ? "An effect is" : "\(running.count) effects are") still in flight: \
        \(running.joined(separator: ", ")). Effects must end before the test ends: advance the \
        clock, cancel them, or call skipInFlightEffects().
        """, site)
    }
  }

  /// Runs the lane until `isDone`, for at most `timeout` in real time after it is idle.
  nonisolated(nonsending) func wait(_ timeout: Duration, until isDone: () -> Bool) async {
    lane.run()
    guard timeout > .zero else { return }
    let end = ContinuousClock.now.advanced(by: timeout)
    while !isDone(), ContinuousClock.now < end {
      // If the task is cancelled, the lane still runs once more.
      try? await Task.sleep(for: .milliseconds(1))
      lane.run()
    }
  }

  func fail(_ message: String, at site: CallSite) {
    reportIssue(
      message, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
  }
}

/// A test store of a feature.
public typealias TestStoreOf<Feature: FeatureTypes> = TestStore<Feature.State, Feature.Action>
where Feature.State: ObservableState & Equatable

/// The effects started by one action of a test, and the effects that are started by actions of
/// those effects.
public struct TestEffects<State: ObservableState & Equatable, Action: Sendable> {
  let store: TestStore<State, Action>
  let effects: SentEffects<State, Action>

  /// Whether any of the effects is still running.
  public var isRunning: Bool { effects.isRunning }

  /// Cancels the effects and runs the resulting work.
  public nonisolated(nonsending) func cancel() async {
    effects.cancel()
    store.lane.run()
  }

  /// Runs the lane until it is idle. An effect that is still running afterwards is a failure.
  ///
  /// - Parameter timeout: The real time to wait for effects that use something other than the
  ///   test's clock. By default none.
  public nonisolated(nonsending) func finish(
    timeout: Duration = .zero, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async {
    await store.wait(timeout) { !isRunning }
    if isRunning {
      store.fail(
        "Expected the effects of this action to end, but they are still in flight.",
        at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
    }
  }
}
