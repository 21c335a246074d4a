import Composable
import ComposableTesting
import Testing

/// Runs random programs on a test store and compares it with a store. After each step the test
/// store must deliver the same actions in the same order, each with the same state.
struct TestStoreFuzzTests {
  @Test func `a test store behaves like a store after each action`() async {
    var reached: [String: Int] = [:]
    for seed in 1...UInt64(isOptimised ? 2_000 : 300) {
      // The testing library prints a report for each failure.
      var program = StrictProgram(seed: seed, fails: seed <= 40)
      for _ in 0..<40 where program.fault == nil { await program.step() }
      await program.end()
      if let fault = program.fault {
        Issue.record("seed \(seed): \(fault)\n\(program.story.joined(separator: "\n"))")
        return
      }
      reached.merge(program.reached, uniquingKeysWith: +)
    }
    let missing = StrictProgram.rules.filter { reached[$0, default: 0] == 0 }
    #expect(missing == [], "each rule is reached")
  }
}

/// One random program.
struct StrictProgram {
  static let rules = [
    "a test store delivers actions in the order of a store",
    "an assertion compares the state after the action",
    "a wrong assertion fails",
    "finish checks the store", "a finished store still checks",
  ]

  private let fails: Bool
  private let clocks = (store: TestClock(), test: TestClock())
  private let store: Store<FuzzedParent.State, FuzzedParent.Action>
  private let test: TestStore<FuzzedParent.State, FuzzedParent.Action>
  private var acts: RandomActs
  private let steps = Steps()
  private var isFinished = false
  private(set) var story: [String] = []
  private(set) var fault: String?
  private(set) var reached: [String: Int] = [:]

  /// The actions that the store reduced, and the state after each.
  private final class Steps {
    var taken: [(action: FuzzedParent.Action, state: FuzzedParent.State)] = []
  }

  init(seed: UInt64, fails: Bool) {
    self.fails = fails
    acts = RandomActs(.seeded(seed))
    func feature(_ clock: TestClock) -> FuzzedParent {
      FuzzedParent(subject: SubjectFeature(clock: clock, kept: LeftBehind(), volume: Shared(0)))
    }
    let (storeClock, testClock) = clocks
    store = Store(initialState: FuzzedParent.State(), lane: storeClock.lane) {
      feature(storeClock)
    }
    test = TestStore(initialState: FuzzedParent.State(), clock: testClock) { feature(testClock) }
    store.onAction { [unowned store, steps] in steps.taken.append(($0, store.state)) }
  }

  mutating func step() async {
    switch acts.random(12) {
    case 0..<3:
      let site = acts.site()
      let put = acts.random(4) > 0
      await send(.change(put ? .put(site, id: acts.random(3)) : .clear(site)))
    case 3: await send(acts.random(2) == 0 ? .plan(next: acts.random(3)) : .sheet(.dismiss))
    case 4..<7: await wake()
    case 7: if acts.random(10) == 0 { await finish() }
    default:
      let (site, act) = (acts.site(), acts.next())
      if Self.isTame(act, at: site) { await send(.child(site, act)) }
    }
  }

  /// Whether a test store can run this step. Excluded are acts that fail, because a failure would
  /// fail this test, and shared values, because a test store receives them only when its test does.
  private static func isTame(_ act: Act, at site: Site) -> Bool {
    switch act {
    case .failing, .escaping, .asked, .endless, .shared, .assigned, .added: false
    case .left: site == .sheet
    default: true
    }
  }

  private mutating func send(_ action: FuzzedParent.Action) async {
    // No action may be sent to an absent child.
    if let site = action.site, store.state.subject(at: site) == nil { return }
    story.append("\(action)")
    store.send(action)
    clocks.store.lane.run()
    await follow(isSent: true)
  }

  /// Advances time to the next wake-up, or by 300 ms if there is none.
  private mutating func wake() async {
    story.append("wake")
    for clock in [clocks.store, clocks.test] {
      if clock.sleeperCount == 0 {
        clock.advance(by: .milliseconds(300))
      } else {
        clock.run(limit: 1)
      }
    }
    await follow(isSent: false)
  }

  /// Repeats the actions of the store on the test store.
  private mutating func follow(isSent: Bool) async {
    let taken = steps.taken
    steps.taken = []
    if taken.count > 2 { reach("a test store delivers actions in the order of a store") }
    for (index, step) in taken.enumerated() {
      let changes = test.state != step.state
      if changes { reach("an assertion compares the state after the action") }
      let isWrong = fails && acts.random(30) == 0
      if isWrong {
        reach("a wrong assertion fails")
        if isFinished { reach("a finished store still checks") }
      }
      await deliver(isWrong) { [test] in
        let state: ((inout FuzzedParent.State) -> Void)? =
          changes || isWrong
          ? {
            $0 = step.state
            if isWrong { $0.changes.append([]) }
          } : nil
        if isSent, index == 0 {
          await test.send(step.action, assert: state)
        } else {
          await test.receive(step.action, assert: state)
        }
      }
      if test.state != step.state { fault = "\(step.action): \(test.state), not \(step.state)" }
    }
  }

  /// Finishes the test store, which must fail if and only if effects are running.
  private mutating func finish() async {
    let runs = store.runningEffects > 0
    guard fails || !runs else { return }
    story.append("finish")
    reach("finish checks the store")
    await deliver(runs) { [test] in await test.finish() }
    isFinished = true
  }

  /// Cancels running effects, so that the end of the test store finds none.
  mutating func end() async {
    if store.runningEffects > 0 { await test.skipInFlightEffects() }
    await test.finish()
  }

  private func deliver(_ isWrong: Bool, _ body: () async -> Void) async {
    if isWrong { await withKnownIssue { await body() } } else { await body() }
  }

  private mutating func reach(_ rule: String) { reached[rule, default: 0] += 1 }
}

extension FuzzedParent.Action {
  /// The child that receives the action.
  fileprivate var site: Site? {
    switch self {
    case .optional: .optional
    case .sheet: .sheet
    case .plain: .plain
    case .choice: .choice
    case .phase: .phase
    case .rows(let element): .row(element.id)
    case .change, .foreignChange, .plan: nil
    }
  }
}
