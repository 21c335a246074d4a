public import Composable
import IssueReporting

/// A store under test: reduces the actions that the test sends, holds back those that effects send
/// until the test receives them, and compares each state with what the test expects.
///
///     let store = TestStore(initialState: Counter.State()) { Counter() }
///     await store.send(.factButtonTapped) { $0.isLoading = true }
///     await store.receive(.factLoaded("…")) {
///       $0.isLoading = false
///       $0.fact = "…"
///     }
///     await store.finish()
///
/// Exhaustive by default: a change of state that is not asserted, an action that is not received
/// and an effect that still runs when the store goes away are failures, shown with a diff. Effects
/// run on a ``ManualLane``; no call waits for real time. One test store belongs to one test.
public final class TestStore<State: ObservableState & Equatable, Action: Sendable> {
  let store: Store<State, Action>
  private let origin: CallSite
  private var isFinished = false
  /// An action waiting to be received, and the tracked send that caused it.
  struct Waiting {
    let action: Action
    let origin: UInt64
  }

  /// Actions that follow from the last reduced one: a store reduces these before anything else.
  private var feedback: [Waiting] = []
  /// What effects sent.
  private var arrived: [Waiting] = []
  var received: [Action] { (feedback + arrived).map(\.action) }

  /// How much has to be spelled out.
  public var exhaustivity = Exhaustivity.on

  /// The clock of the test; its lane is the store's.
  public let clock: TestClock

  /// The store's lane.
  public var lane: ManualLane { clock.lane }

  /// The state as it is now.
  public var state: State { store.state }

  /// - Parameters:
  ///   - initialState: the state at the beginning of the test.
  ///   - clock: the clock of the test, if the feature is given one; its lane is the store's.
  ///   - reducer: makes the feature under test.
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

  /// Sends `action` as the user of the feature would.
  ///
  /// - Parameters:
  ///   - expected: changes the state before into the state that is expected after. If
  ///     ``exhaustivity`` is off it may be given the state after, and mention some of it only.
  /// - Returns: a handle to the effects of this action.
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
          Must handle \(received.count) received \(received.count == 1 ? "action" : "actions") \
          before sending one: \(list(received))
          """, at: site)
      case .off: skipAll(at: site)
      }
    }
    isFinished = false
    let origin = store.nextOrigin
    apply(Waiting(action: action, origin: origin), expected, verb: "sent", at: site)
    return TestEffects(store: self, effects: store.effects(of: origin))
  }

  /// Compares the state as it is now: `expected` changes it into what it must be, that is, not at
  /// all.
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
      "State is not what was expected:\n\n\(difference(expected: state, actual: self.state))",
      at: site)
  }

  /// Takes the action that is received next. O(waiting actions).
  func takeFirst() -> Waiting {
    isFinished = false
    return feedback.isEmpty ? arrived.removeFirst() : feedback.removeFirst()
  }

  /// Reduces the action that is received next without looking at what it changes.
  func skipFirst() {
    let waiting = takeFirst()
    store.send(waiting.action, origin: waiting.origin)
    lane.run()
  }

  /// Runs the lane until it is idle, and checks that no effect runs and nothing is left unreceived.
  ///
  /// The store checks as before if the test continues.
  /// - Parameter timeout: how much real time effects get that wait for something other than the
  ///   clock of the test; by default none.
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

  /// Applies the received actions without looking at what they change.
  ///
  /// - Parameter strict: whether it is a failure if there are none.
  public nonisolated(nonsending) func skipReceivedActions(
    strict: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    lane.run()
    if received.isEmpty, strict { fail("There were no received actions to skip.", at: site) }
    skipAll(at: site)
  }

  /// Cancels the effects that are under way.
  ///
  /// - Parameter strict: whether it is a failure if there are none.
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

  /// Reports what a test that is not exhaustive left out, if it asked for that.
  func show(_ message: @autoclosure () -> String, at site: CallSite) {
    guard exhaustivity == .off(showSkippedAssertions: true) else { return }
    let message = message()
    withExpectedIssue(
      fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column
    ) { fail(message, at: site) }
  }

  private func checkNothingIsLeft(at site: CallSite) {
    let tell = exhaustivity == .on ? fail : { self.show($0, at: $1) }
    if !received.isEmpty {
      tell("The store received unexpected actions: \(list(received))", site)
    }
    let running = store.runningEffectDescriptions
    if !running.isEmpty {
      tell(
        """
        \(running.count == 1 ? "An effect is" : "\(running.count) effects are") still in flight: \
        \(running.joined(separator: ", ")). They must end before the test does: advance the clock, \
        cancel them, or call skipInFlightEffects().
        """, site)
    }
  }

  /// Runs the lane until `isDone`, for at most `timeout` of real time after it is idle.
  nonisolated(nonsending) func wait(_ timeout: Duration, until isDone: () -> Bool) async {
    lane.run()
    guard timeout > .zero else { return }
    let end = ContinuousClock.now.advanced(by: timeout)
    while !isDone(), ContinuousClock.now < end {
      // Cancelled or not, the lane runs once more.
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

/// The effects that one action of a test started, and those of the actions that they sent.
public struct TestEffects<State: ObservableState & Equatable, Action: Sendable> {
  let store: TestStore<State, Action>
  let effects: SentEffects<State, Action>

  /// Whether one of them still runs.
  public var isRunning: Bool { effects.isRunning }

  /// Cancels them, and runs what follows from that.
  public nonisolated(nonsending) func cancel() async {
    effects.cancel()
    store.lane.run()
  }

  /// Runs the lane until it is idle; it is a failure if one of them still runs then.
  ///
  /// - Parameter timeout: how much real time effects get that wait for something other than the
  ///   clock of the test; by default none.
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
