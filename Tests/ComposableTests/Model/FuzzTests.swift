import Composable
import ComposableTesting
import Foundation
import Testing

/// Random programs of effects, limits, cancellations and children that come and go, on a store and on the
/// model of what the article "What happens when" says.
struct FuzzTests {
  @Test func `a store does what the model does`() {
    // LIVEHOST_FUZZ sets how many programs are run, millions in a soak; LIVEHOST_FUZZ_SEED the first.
    func number(_ name: String) -> UInt64? {
      ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
    let programs = number("LIVEHOST_FUZZ") ?? (isOptimised ? 10_000 : 1_000)
    let first = number("LIVEHOST_FUZZ_SEED") ?? 1
    var reached: [String: Int] = [:]
    for seed in first..<first + programs {
      var fuzzer = Fuzzer(seed: seed)
      for _ in 0..<40 where fuzzer.fault == nil { fuzzer.step() }
      if let fault = fuzzer.fault {
        Issue.record("seed \(seed): \(fault)\n\(fuzzer.story.joined(separator: "\n"))")
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

  private static let sites: [Site] = [
    .optional, .sheet, .phase, .plain, .row(0), .row(1), .row(2),
  ]

  let clock = TestClock()
  private let kept = LeftBehind()
  let store: Store<FuzzedParent.State, FuzzedParent.Action>
  var model = EffectModel()
  private(set) var story: [String] = []
  private(set) var fault: String?
  private let randomness: Randomness
  private var token = 0
  private var handles:
    [(origin: Int, effects: SentEffects<FuzzedParent.State, FuzzedParent.Action>)] =
      []

  init(seed: UInt64) {
    randomness = .seeded(seed)
    let subject = SubjectFeature(clock: clock, kept: kept)
    store = Store(initialState: FuzzedParent.State(), lane: clock.lane) {
      FuzzedParent(subject: subject)
    }
    store.feedbackLimit = 20
    store.onAction { [unowned store] action in
      if let (site, token) = action.asked { store.send(.child(site, .got(token: token))) }
    }
  }

  private func random(_ count: Int) -> Int { randomness.next(in: 0...(count - 1)) }

  /// A time that no other effect has.
  private mutating func time(_ milliseconds: Int) -> Int {
    token += 1
    return (1 + random(milliseconds)) * 1_000_000 + token * 131
  }

  mutating func step() {
    let site = Self.sites[random(Self.sites.count)]
    switch random(21) {
    case 0..<3: change(.put(site, id: random(2)))
    case 3: change(.clear(site))
    case 4: change(random(2) == 0 ? .renew(row: random(3)) : .replaceRows(rows()))
    case 5: change(.cancel(site, id: [1, Name.debounce, Name.throttle, Name.limits][random(4)]))
    case 6: plan()
    case 7: cancelHandle()
    case 8..<11: advance()
    case 11: send(site, start: true)
    case 12: useKept()
    default: send(site, start: false)
    }
    compare()
  }

  private func rows() -> [Int] { (0..<3).filter { _ in random(2) == 0 } }

  private mutating func change(_ change: Change) {
    let isForeign = random(3) == 0
    story.append("\(isForeign ? "foreign " : "")\(change)")
    store.send(isForeign ? .foreignChange(change) : .change(change))
    model.change(change, isForeign: isForeign)
    clock.lane.run()
  }

  private mutating func plan() {
    let id = random(3)
    if random(2) == 0 {
      story.append("plan \(id)")
      store.send(.plan(next: id))
      model.plan(id)
    } else {
      story.append("dismiss")
      store.send(.sheet(.dismiss))
      model.dismiss()
    }
    clock.lane.run()
  }

  private mutating func advance() {
    let target = model.now + time(800)
    story.append("advance to \(target)")
    clock.advance(to: TestClock.Instant(offset: .nanoseconds(target)))
    model.advance(to: target)
  }

  private mutating func cancelHandle() {
    guard !handles.isEmpty else { return }
    let handle = handles.remove(at: random(handles.count))
    story.append("cancel handle \(handle.origin)")
    handle.effects.cancel()
    model.cancel(origin: handle.origin)
    clock.lane.run()
  }

  private mutating func useKept() {
    guard model.kept > 0 else { return }
    story.append("what an effect left behind is sent")
    if !kept.use(random(model.kept)) { fault = "less was left behind than there should be" }
    clock.lane.run()
    model.useKept()
  }

  private mutating func send(_ site: Site, start: Bool) {
    let act = act()
    token += 1
    story.append("\(start ? "start \(token) " : "")\(site) \(act)")
    if start {
      handles.append((token, store.start(.child(site, act))))
      model.act(site, act, origin: token)
    } else {
      store.send(.child(site, act))
      model.act(site, act)
    }
    clock.lane.run()
  }

  private mutating func act() -> Act {
    let id = random(2)
    return
      switch random(19)
    {
    case 0, 1:
      .work(
        token: token, delay: time(1_000), id: random(2) == 0 ? id : nil,
        cancelInFlight: random(2) == 0)
    case 2: .chain(token: token, delay: time(500), then: time(500))
    case 3: .timer(token: token, interval: time(600), id: id)
    case 4, 5, 6: .debounced(token: token, pause: time(400), delay: time(800))
    case 7, 8: .throttled(token: token, interval: Self.interval, delay: time(800))
    case 9: .pair(token: token, delay: time(500))
    case 10: .stubborn(token: token, delay: time(1_000), id: id)
    case 11: .failing(delay: time(800))
    case 12: .startedAndCancelled(token: token, delay: time(500), id: id)
    case 13: .escaping(token: token)
    case 14: random(4) == 0 ? .endless : .asked(token: token)
    case 15: .cancelled(id: [id, Name.debounce, Name.throttle, Name.limits][random(4)])
    case 16: random(2) == 0 ? .fedBack(token: token) : .left
    default: .startedAndGone(token: token, delay: time(500))
    }
  }

  private mutating func compare() {
    var faults: [String] = []
    for site in Self.sites where store.state.log(at: site) != model.children[site]?.log {
      faults.append(
        "\(site) got \(String(describing: store.state.log(at: site))), "
          + "not \(String(describing: model.children[site]?.log))")
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
      if isRunning { model.note("a handle says whether its effects run") }
    }
    if clock.sleeperCount > store.runningEffects {
      faults.append("\(clock.sleeperCount) sleep")
    }
    if !faults.isEmpty { fault = faults.joined(separator: "\n") }
  }
}
