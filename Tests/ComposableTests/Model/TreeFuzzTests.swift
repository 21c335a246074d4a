import Composable
import ComposableTesting
import Foundation
import Testing

/// Runs random compositions of effects on a store and on ``TreeModel``, in virtual time.
struct TreeFuzzTests {
  /// LIVEHOST_FUZZ is the number of compositions, millions in a soak test. LIVEHOST_FUZZ_SEED is
  /// the first seed.
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  @Test func `random compositions of effects behave like the model`() {
    let programs = Self.number("LIVEHOST_FUZZ") ?? (isOptimised ? 5_000 : 1_000)
    let first = Self.number("LIVEHOST_FUZZ_SEED") ?? 1
    var reached: [String: Int] = [:]
    for seed in first..<first + programs {
      var fuzzer = TreeFuzzer(seed: seed)
      for _ in 0..<12 where fuzzer.fault == nil { fuzzer.step() }
      if let fault = fuzzer.fault {
        Issue.record("seed \(seed): \(fault)\n\(fuzzer.story)")
        return
      }
      reached.merge(fuzzer.model.reached, uniquingKeysWith: +)
    }
    #expect(Set(reached.keys).symmetricDifference(TreeFuzzer.rules) == [], "each rule is reached")
  }
}

/// One random program of compositions.
struct TreeFuzzer {
  static let rules: Set = [
    "a cancelled part ends its sequence", "removing a child ends its sequence",
    "a debounce cancels the earlier effect", "a limit ends the sequence of a dropped effect",
    "a pause of zero ends immediately", "an error ends its sequence",
    "an identifier covers nested children", "an interval of zero runs every effect",
    "the next part begins when the previous part has ended completely",
  ]
  static let debounces = 10...11
  static let throttles = 20...21

  let clock = TestClock()
  let store: Store<Trunk.State, Trunk.Action>
  var model = TreeModel()
  private(set) var fault: String?
  private var steps: [Step] = []
  var story: String { steps.map { "\($0)" }.joined(separator: "\n") }
  private let log = Calls()
  private let randomness: Randomness
  private var lastToken = 0
  private var isInReaction = false
  private var handles: [(origin: Int, effects: SentEffects<Trunk.State, Trunk.Action>)] = []

  private enum Step {
    case send(TreePosition, EffectTree)
    case advance(to: Int)
    case added(Int)
    case removed(Int)
    case cancelHandle(Int)
  }

  init(seed: UInt64) {
    randomness = .seeded(seed)
    store = Store(initialState: Trunk.State(), lane: clock.lane) { [clock] in Trunk(clock: clock) }
    store.onAction { [log] in
      if let (place, token) = $0.told { log.record("\(place) \(token)") }
    }
  }

  // MARK: Steps

  mutating func step() {
    switch random(10) {
    case 0..<3: advance(to: model.now + time())
    case 3: removeOrAdd(row: random(2))
    case 4: cancelHandle()
    default:
      let place = place()
      send(tree(at: place, size: 3), at: place)
    }
  }

  mutating func send(_ tree: EffectTree, at place: TreePosition) {
    steps.append(.send(place, tree))
    let origin = steps.count
    handles.append((origin, store.start(.perform(tree, at: place))))
    model.send(tree, at: place, origin: origin)
    settle()
  }

  mutating func advance(to target: Int) {
    steps.append(.advance(to: target))
    clock.advance(to: TestClock.Instant(offset: .nanoseconds(target)))
    model.advance(to: target)
    compare()
  }

  private mutating func removeOrAdd(row: Int) {
    if model.rows.contains(row) {
      steps.append(.removed(row))
      store.send(.removed(row))
      model.remove(row: row)
    } else {
      steps.append(.added(row))
      store.send(.added(row))
      model.rows.insert(row)
    }
    settle()
  }

  private mutating func cancelHandle() {
    guard !handles.isEmpty else { return }
    let handle = handles.remove(at: random(handles.count))
    steps.append(.cancelHandle(handle.origin))
    handle.effects.cancel()
    model.cancel(origin: handle.origin)
    settle()
  }

  /// Runs the effects that are due.
  private mutating func settle() {
    clock.lane.run()
    model.advance(to: model.now)
    compare()
  }

  private mutating func compare() {
    var faults: [String] = []
    let arrived = log.taken()
    if arrived != model.log { faults.append("\(arrived) arrived, not \(model.log)") }
    model.log = []
    if store.runningEffects != model.running.count {
      faults.append("\(store.runningEffectNames) run, not \(model.running)")
    }
    if clock.sleeperCount != model.running.count { faults.append("\(clock.sleeperCount) sleep") }
    if store.failures != model.failures {
      faults.append("\(store.failures) failures, not \(model.failures)")
    }
    for handle in handles {
      let isRunning = model.running.contains { $0.context.origin == handle.origin }
      if handle.effects.isRunning != isRunning {
        faults.append("the handle \(handle.origin) says \(handle.effects.isRunning)")
      }
    }
    if !faults.isEmpty { fault = faults.joined(separator: "\n") }
  }

  // MARK: Chance

  /// Returns a number below `count`.
  private func random(_ count: Int) -> Int { randomness.next(in: 0...(count - 1)) }

  /// Returns a random time in nanoseconds. Equal times of two effects are very unlikely.
  private func time() -> Int { randomness.next(in: 1...999_999_999) }

  /// Returns a time that may be zero or negative, but is always positive in reactions to actions of
  /// tasks. There, the number of turns until a task returns depends on the compiler, so the order
  /// would be undefined.
  private func timeOrNone() -> Int { !isInReaction && random(4) == 0 ? -random(2) : time() }

  private func place() -> TreePosition {
    let rows = model.rows.sorted()
    let inRows = rows.flatMap { [TreePosition.row($0), .rowTwig($0)] }
    let places = [.trunk, .trunk, .trunk, .part, .twig(random(2))] + inRows
    return places[random(places.count)]
  }

  private func id() -> Int { random(3) }

  private mutating func told(at place: TreePosition, _ size: Int) -> EffectTree.Told {
    lastToken += 1
    let wasInReaction = isInReaction
    isInReaction = true
    let reaction = size > 1 && random(4) == 0 ? tree(at: place, size: size - 1) : nil
    isInReaction = wasInReaction
    return EffectTree.Told(token: lastToken, reaction: reaction)
  }

  private mutating func work(at place: TreePosition, _ size: Int) -> EffectTree {
    let outcomes: [EffectTree.Work.Outcome] = [
      .fails, .handlesError, .throwsCancellation, .sends, .sends, .sends, .sends, .sends,
    ]
    return .run(
      EffectTree.Work(
        told: told(at: place, size), delay: time(), outcome: outcomes[random(outcomes.count)]))
  }

  private mutating func trees(at place: TreePosition, _ size: Int) -> [EffectTree] {
    (0...random(3)).map { _ in tree(at: place, size: size - 1) }
  }

  private mutating func tree(at place: TreePosition, size: Int) -> EffectTree {
    guard size > 0 else { return leaf(at: place) }
    switch random(12) {
    case 0: return leaf(at: place)
    case 1: return .merge(trees(at: place, size))
    case 2..<6: return .concatenate(trees(at: place, size))
    case 6, 7:
      return .cancellable(
        tree(at: place, size: size - 1), id: id(), cancelInFlight: random(3) == 0)
    case 8:
      return .debounce(
        tree(at: place, size: size - 1), id: Self.debounces.lowerBound + random(2),
        pause: timeOrNone())
    case 9:
      return .throttle(
        tree(at: place, size: size - 1), id: Self.throttles.lowerBound + random(2),
        interval: timeOrNone())
    case 10 where place == .trunk:
      let element = random(2)
      return .element(element, tree(at: .twig(element), size: size - 1))
    default:
      guard place.depth > 0 else { return leaf(at: place) }
      return .composed(tree(at: place.composed, size: size - 1))
    }
  }

  private mutating func leaf(at place: TreePosition) -> EffectTree {
    switch random(10) {
    case 0, 1: .send(told(at: place, 2))
    case 2: .cancel(id: [id(), Self.debounces.lowerBound, Self.throttles.lowerBound][random(3)])
    default: work(at: place, 2)
    }
  }
}
