import Composable
import ComposableTesting
import Testing

/// Random programs on a test store, whose oracle is a store: after each step the test store must hand out
/// the same actions in the same order, each with the same state.
struct TestStoreFuzzTests {
  @Test func `a test store does what a store does, action by action`() async {
    var reached: [String: Int] = [:]
    for seed in 1...UInt64(isOptimised ? 2_000 : 300) {
      // Of each failure the testing library prints a report.
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
    "a test store hands out actions in the order of a store",
    "an assertion compares the state after the action",
    "an assertion that is wrong fails",
    "a store checks at its end", "a store checks after it was finished",
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

  /// What the store reduced, and its state after that.
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

  /// Whether a test store can follow: it takes what a store reports as a failure of the test, and it
  /// listens to a shared value as quickly as its test receives.
  private static func isTame(_ act: Act, at site: Site) -> Bool {
    switch act {
    case .failing, .escaping, .asked, .endless, .shared, .assigned, .added: false
    case .left: site == .sheet
    default: true
    }
  }

  private mutating func send(_ action: FuzzedParent.Action) async {
    // To a child that is not there nothing may be sent.
    if let site = action.site, store.state.subject(at: site) == nil { return }
    story.append("\(action)")
    store.send(action)
    clocks.store.lane.run()
    await follow(isSent: true)
  }

  /// Wakes the one that would wake first; without one time passes.
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

  /// Does on the test store what the store did.
  private mutating func follow(isSent: Bool) async {
    let taken = steps.taken
    steps.taken = []
    if taken.count > 2 { note("a test store hands out actions in the order of a store") }
    for (index, step) in taken.enumerated() {
      let changes = test.state != step.state
      if changes { note("an assertion compares the state after the action") }
      let isWrong = fails && acts.random(30) == 0
      if isWrong {
        note("an assertion that is wrong fails")
        if isFinished { note("a store checks after it was finished") }
      }
      await tell(isWrong) { [test] in
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

  /// It fails if and only if effects run.
  private mutating func finish() async {
    let runs = store.runningEffects > 0
    guard fails || !runs else { return }
    story.append("finish")
    note("a store checks at its end")
    await tell(runs) { [test] in await test.finish() }
    isFinished = true
  }

  /// Cancels what runs, so that the end of the test store finds nothing.
  mutating func end() async {
    if store.runningEffects > 0 { await test.skipInFlightEffects() }
    await test.finish()
  }

  private func tell(_ isWrong: Bool, _ body: () async -> Void) async {
    if isWrong { await withKnownIssue { await body() } } else { await body() }
  }

  private mutating func note(_ rule: String) { reached[rule, default: 0] += 1 }
}

extension FuzzedParent.Action {
  /// The child that it is for.
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
