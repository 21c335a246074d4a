import Composable
import ComposableTesting
import Foundation
import Testing

/// Runs random programs of effects, limits, cancellations and child changes on a store and on the
/// model of the rules in the article "What happens when".
struct FuzzTests {
  @Test func `a store behaves like the model for random features and actions`() {
    // LIVEHOST_FUZZ is the number of programs, millions in a soak test. LIVEHOST_FUZZ_SEED is the
    // first seed.
    func number(_ name: String) -> UInt64? {
      ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
    let programs = number("LIVEHOST_FUZZ") ?? (isOptimised ? 10_000 : 2_000)
    let first = number("LIVEHOST_FUZZ_SEED") ?? 1
    var reached: [String: Int] = [:]
    for seed in first..<first + programs {
      var fuzzer = Fuzzer(seed: seed)
      for _ in 0..<40 where fuzzer.fault == nil { fuzzer.step() }
      if let fault = fuzzer.fault {
        Issue.record("seed \(seed): \(fault)\n\(fuzzer.story)")
        return
      }
      reached.merge(fuzzer.model.reached, uniquingKeysWith: +)
    }
    let missing = Fuzzer.rules.filter { reached[$0, default: 0] == 0 }
    #expect(missing == [], "each rule is reached")
    #expect(Set(reached.keys).subtracting(Fuzzer.rules) == [])
  }
}

/// One random program.
struct Fuzzer {
  /// The interval of all throttles.
  static let interval = 700_000_001

  let clock = TestClock()
  private let kept = LeftBehind()
  private let volume = Shared(0)
  let store: Store<FuzzedParent.State, FuzzedParent.Action>
  var model = EffectModel()
  /// The steps so far. The steps are converted to text only after a fault, because conversion took
  /// half of the time.
  private var steps: [Step] = []
  var story: String { steps.map { "\($0)" }.joined(separator: "\n") }
  private(set) var fault: String?
  private var acts: RandomActs
  private var handles:
    [(origin: Int, effects: SentEffects<FuzzedParent.State, FuzzedParent.Action>)] =
      []

  init(seed: UInt64) {
    acts = RandomActs(.seeded(seed))
    let subject = SubjectFeature(clock: clock, kept: kept, volume: volume)
    store = Store(initialState: FuzzedParent.State(), lane: clock.lane) {
      FuzzedParent(subject: subject)
    }
    store.feedbackLimit = 20
    store.onAction { [unowned store] action in
      if let (site, token) = action.asked { store.send(.child(site, .got(token: token))) }
    }
  }

  private enum Step {
    case change(Change, isForeign: Bool)
    case plan(Int)
    case dismiss
    case advance(to: Int)
    case cancelHandle(Int)
    case useKept
    case volume([Int])
    case send(Site, Act)
    case start(Int, Site, Act)
  }

  private func random(_ count: Int) -> Int { acts.random(count) }

  mutating func step() {
    let site = acts.site()
    switch random(23) {
    case 0..<3: change(.put(site, id: random(3)))
    case 3: change(.clear(site))
    case 4: change(random(2) == 0 ? .renew(row: random(3)) : .replaceRows(rows()))
    case 5: change(.cancel(site, id: [1, Name.debounce, Name.throttle, Name.limits][random(4)]))
    case 6: plan()
    case 7: cancelHandle()
    case 8..<11: advance()
    case 11: send(site, start: true)
    case 12: useKept()
    case 13, 14: changeVolume()
    default: send(site, start: false)
    }
    model.listen()
    compare()
  }

  private func rows() -> [Int] { (0..<3).filter { _ in random(2) == 0 } }

  private mutating func change(_ change: Change) {
    let isForeign = random(3) == 0
    steps.append(.change(change, isForeign: isForeign))
    store.send(isForeign ? .foreignChange(change) : .change(change))
    model.change(change, isForeign: isForeign)
    clock.lane.run()
  }

  private mutating func plan() {
    let id = random(3)
    if random(2) == 0 {
      steps.append(.plan(id))
      store.send(.plan(next: id))
      model.plan(id)
    } else {
      steps.append(.dismiss)
      store.send(.sheet(.dismiss))
      model.dismiss()
    }
    clock.lane.run()
  }

  private mutating func advance() {
    let target = model.now + acts.time(800)
    steps.append(.advance(to: target))
    clock.advance(to: TestClock.Instant(offset: .nanoseconds(target)))
    model.advance(to: target)
  }

  private mutating func cancelHandle() {
    guard !handles.isEmpty else { return }
    let handle = handles.remove(at: random(handles.count))
    steps.append(.cancelHandle(handle.origin))
    handle.effects.cancel()
    model.cancel(origin: handle.origin)
    clock.lane.run()
  }

  private mutating func useKept() {
    guard model.kept > 0 else { return }
    steps.append(.useKept)
    if !kept.use(random(model.kept)) { fault = "fewer senders were left behind than expected" }
    clock.lane.run()
    model.useKept()
  }

  /// Changes the shared value from outside, perhaps several times before a listener receives it.
  private mutating func changeVolume() {
    let values =
      random(2) == 0 ? [random(8) - 4] : (0...random(3)).map { _ in random(4) }
    steps.append(.volume(values))
    for value in values {
      volume.change { $0 = value }
      model.change(value)
    }
    clock.lane.run()
  }

  private mutating func send(_ site: Site, start: Bool) {
    let act = acts.next()
    let token = acts.newToken()
    if start {
      steps.append(.start(token, site, act))
      handles.append((token, store.start(.child(site, act))))
      model.act(site, act, origin: token)
    } else {
      steps.append(.send(site, act))
      store.send(.child(site, act))
      model.act(site, act)
    }
    clock.lane.run()
  }

  private mutating func compare() {
    var faults: [String] = []
    for site in RandomActs.sites {
      let (subject, child) = (store.state.subject(at: site), model.children[site])
      if subject?.log != child?.log || subject?.volume != child?.volume {
        faults.append(
          "\(site) is \(String(describing: subject)), not \(String(describing: child))")
      }
    }
    if volume.value != model.volume.value {
      faults.append("the volume is \(volume.value), not \(model.volume)")
    }
    if store.runningEffects != model.running.count {
      faults.append("\(store.runningEffectNames) run, not \(model.running.values)")
    }
    if store.actionsWithoutChild != model.dropped {
      faults.append("\(store.actionsWithoutChild) dropped, not \(model.dropped)")
    }
    if store.failures != model.failures {
      faults.append("\(store.failures) failures, not \(model.failures)")
    }
    if store.state.changes != model.changes {
      faults.append("changed \(store.state.changes), not \(model.changes)")
    }
    for handle in handles {
      let isRunning = model.running.values.contains { $0.origin == handle.origin }
      if handle.effects.isRunning != isRunning {
        faults.append("the handle \(handle.origin) says \(handle.effects.isRunning)")
      }
      if isRunning { model.reach("a handle reports whether its effects run") }
    }
    if clock.sleeperCount != model.running.values.count(where: { !$0.kind.isListening }) {
      faults.append("\(clock.sleeperCount) sleep of \(store.runningEffectNames)")
    }
    if !faults.isEmpty { fault = faults.joined(separator: "\n") }
  }
}
