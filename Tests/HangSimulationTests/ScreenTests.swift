import Composable
import HangSimulation
import RateLimiting
import Synchronization
import Testing
import ViewGraph

/// A counter whose effects take time.
@Reducer
struct Counter {
  @ObservableState
  struct State: Equatable, Sendable {
    var count: Int = 0
    var saved: Int = 0
    var ticks: Int = 0
  }

  enum Action: Sendable {
    case added(Int)
    case computeTapped(second: Bool)
    case computed
    case typed
    case save
    case timer
    case ticked
  }

  let first: @Sendable () async throws -> Void
  let second: @Sendable () async throws -> Void
  let dependencies: Dependencies

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .added(let number):
      state.count += number
      return .none
    case .computeTapped(let isSecond):
      return .run { [first, second] send in
        try await isSecond ? second() : first()
        send(.computed)
      }
    case .computed:
      state.count += 1
      return .none
    case .typed:
      return .send(.save)
        .debounce(id: "typing", for: .milliseconds(300), clock: dependencies.clock)
    case .save:
      state.saved += 1
      return .none
    case .timer: return .timer(every: .seconds(1), clock: dependencies.clock) { _ in .ticked }
    case .ticked:
      state.ticks += 1
      return .none
    }
  }
}

struct CounterView: View {
  static let name = "CounterView"
  func body(_ state: Observed<Counter.State>, _ context: ViewContext) -> ViewNode {
    .text("\(state.count), saved \(state.saved), \(state.ticks) s")
  }
}

/// Outputs the sum of the received numbers every tenth of a second.
struct SummingThrottle: EventThrottle {
  private var sum: Int?
  private(set) var deadline: Instant?
  private(set) var pending = 0
  private(set) var coalesced = 0

  mutating func receive(
    _ event: Counter.Action, at now: Instant, into actions: inout [Counter.Action]
  ) {
    guard case .added(let number) = event else { return actions.append(event) }
    if sum != nil { coalesced += 1 } else { pending = 1 }
    sum = (sum ?? 0) + number
    deadline = deadline ?? now + .milliseconds(100)
  }

  mutating func wake(at now: Instant, into actions: inout [Counter.Action]) {
    guard let due = deadline, now >= due, let sum else { return }
    actions.append(.added(sum))
    (self.sum, deadline, pending) = (nil, nil, 0)
  }
}

@Suite(.timeLimit(.minutes(5))) struct ScreenTests {
  private func device(
    cores: Int = 2, costs: DeviceProfile.Costs? = nil
  ) -> Device {
    Device(
      "device", cores: cores,
      costs: costs ?? DeviceProfile.Costs(action: .milliseconds(1), view: .cost(.milliseconds(2))))
  }

  private let screen = SimulatedScreen<Counter.Action>(
    CounterView(), state: { Counter.State() },
    reducer: { (world: SimulatedWorld) -> Counter in
      let first = world.effect("first", EffectModel(cost: .milliseconds(50)))
      let second = world.effect("second", EffectModel(cost: .milliseconds(50)))
      return Counter(
        first: { try await first.succeed() }, second: { try await second.succeed() },
        dependencies: world.dependencies)
    }, on: { (action: Counter.Action) -> [Counter.Action] in [action] })

  private func run(
    _ events: [EventStream<Counter.Action>], on device: Device, seconds: Int = 5,
    screen: SimulatedScreen<Counter.Action>? = nil, faults: [Fault] = [],
    bounds: HangBounds = .platform, thresholds: [String] = []
  ) async throws -> SimulationReport {
    try await (screen ?? self.screen).simulate(
      events, faults: faults, on: [device], for: .seconds(seconds), bounds: bounds,
      thresholds: thresholds)
  }

  @Test
  func `effects that share a core delay each other, but not the screen's thread on another core`()
    async throws
  {
    let events: [EventStream<Counter.Action>] = [
      .at(.seconds(1), event: .computeTapped(second: false)),
      .at(.seconds(1), event: .computeTapped(second: true)),
    ]
    let alone = try await run(events, on: device(cores: 3))
    #expect(alone.runs[0].effects.map(\.answered.max) == [50_000_000, 50_000_000])
    let shared = try await run(events, on: device(cores: 2))
    // The two effects alternate in slices of a millisecond.
    #expect(shared.runs[0].effects.map(\.answered.max) == [99_000_000, 100_000_000])
    // The longest turn is an action of a millisecond and a frame.
    #expect(shared.worstTurn?.turn.length == 3_000_000)
    #expect(shared.runs[0].actions == 4)
  }

  @Test func `work in a reducer holds the screen's thread`() async throws {
    let costs = DeviceProfile.Costs(
      action: .milliseconds(1), view: .cost(.milliseconds(2))
    ).action("added", .milliseconds(500))
    let report = try await run([.at(.seconds(1), event: .added(1))], on: device(costs: costs))
    #expect(report.hangs == 1)
    #expect(report.worstTurn?.turn.action == "added")
    #expect(report.worstTurn?.turn.length == 502_000_000)
  }

  @Test func `actions sent by effects and by feedback have the costs of their kinds`() async throws
  {
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.zero))
      .action("save", .milliseconds(300)).action("computed", .milliseconds(400))
    let report = try await run(
      [
        .at(.seconds(1), event: .save), .at(.seconds(2), event: .computeTapped(second: false)),
      ], on: device(costs: costs))
    #expect(report.microhangs == 2)
    #expect(report.runs[0].longestTurns.prefix(2).map(\.action) == ["computed", "save"])
  }

  @Test func `debounces and timers use virtual time and give the same result in each run`()
    async throws
  {
    let events: [EventStream<Counter.Action>] = [
      .at(.zero, event: .timer), .every(.milliseconds(100), until: .seconds(2)) { _ in .typed },
    ]
    let report = try await run(events, on: device(), seconds: 6)
    // 20 keystrokes, the timer's start, five ticks, and a single save.
    #expect(report.runs[0].actions == 20 + 1 + 5 + 1)
    #expect(try await run(events, on: device(), seconds: 6).json == report.json)
    let causes = report.runs[0][CounterView.self]?.causes.compactMap(\.action) ?? []
    #expect(Set(causes) == ["save", "ticked"])
  }

  @Test func `a debounce after an idle period starts at the event that triggers it`() async throws {
    let events: [EventStream<Counter.Action>] = [
      .every(.milliseconds(100), from: .seconds(1), until: .seconds(2)) { _ in .typed }
    ]
    let report = try await run(events, on: device(), seconds: 4)
    // The ten keystrokes are saved once.
    #expect(report.runs[0].actions == report.runs[0].events.received + 1)
  }

  @Test func `events that a throttle holds are delivered at its deadline and are counted`()
    async throws
  {
    let screen = SimulatedScreen<Counter.Action>(
      CounterView(), state: { Counter.State() },
      reducer: { (world: SimulatedWorld) -> Counter in
        Counter(first: {}, second: {}, dependencies: world.dependencies)
      }, throttle: { SummingThrottle() })
    let report = try await run(
      [.every(.milliseconds(10)) { _ in .added(1) }], on: device(), screen: screen)
    let totals = report.runs[0].events
    #expect(totals.received == 501)
    #expect(totals.applied + totals.coalesced + totals.pending == 501)
    #expect(totals.applied == report.runs[0].actions)
    #expect((40...50).contains(totals.applied))
    #expect(report.runs[0].latency.p50 > 50_000_000)
  }

  @Test func `faults such as lost events can be injected into any screen`() async throws {
    let events: [EventStream<Counter.Action>] = [.every(.milliseconds(10)) { _ in .added(1) }]
    let report = try await run(
      events, on: device(),
      faults: [
        .stall(at: .seconds(1), for: .seconds(1)),
        .drop(share: 1, at: .seconds(3), for: .seconds(1)),
      ])
    #expect(report.runs[0].faults.dropped == 100)
    #expect(report.runs[0].faults.delayed == 100)
    #expect(report.runs[0].events.received == 401)
  }

  @Test func `the caller of a simulation can define the bounds of hangs`() async throws {
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.milliseconds(20)))
    let events: [EventStream<Counter.Action>] = [.at(.seconds(1), .seconds(2), event: .added(1))]
    let bounds = HangBounds(
      late: .milliseconds(5), microhang: .milliseconds(10), hang: .milliseconds(15))
    #expect(try await run(events, on: device(costs: costs)).hangs == 0)
    let strict = try await run(events, on: device(costs: costs), bounds: bounds)
    #expect(strict.hangs == 3)
    #expect(strict.worstTurn?.turn.hangClass == "hang")
  }

  // MARK: Limits

  @Test func `a simulation can be cancelled in the middle of a turn`() async {
    let made = Atomic<Int>(0)
    // The second turn receives the million events that arrived during the first action.
    let costs = DeviceProfile.Costs(action: .seconds(1), view: .cost(.zero))
    let task = Task {
      try await run(
        [
          .every(.microseconds(1)) { _ in
            if made.wrappingAdd(1, ordering: .relaxed).newValue == 10_000 {
              withUnsafeCurrentTask { task in if let task { task.cancel() } }
            }
            return .added(1)
          }
        ], on: device(costs: costs))
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect((10_000...12_000).contains(made.load(ordering: .relaxed)), "no more than one slice")
  }

  @Test func `a simulated device that cannot keep up with its events ends the run with an error`()
    async
  {
    var plan = SimulationPlan(
      "behind", duration: .seconds(3_600), devices: [device()],
      variants: [screen.variant("one", events: [.every(.microseconds(10)) { _ in .added(1) }])])
    plan.limits.waiting = 5_000
    let limited = plan
    let problem = await #expect(throws: SimulationProblem.self) {
      _ = try await limited.run()
    }
    #expect(problem?.description.hasPrefix("the device 'device' cannot keep up: ") == true)
  }

  @Test func `the number of long turns that all runs together keep is limited`() async throws {
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.milliseconds(300)))
    var plan = SimulationPlan(
      "hangs", duration: .seconds(10), devices: [device(costs: costs)],
      variants: ["one", "two"].map {
        screen.variant($0, events: [.every(.milliseconds(500)) { _ in .added(1) }])
      })
    let each = try await plan.run().report.microhangs / 2
    #expect(each > 15)
    // The limit suffices for one run, including turns kept because all later turns are shorter.
    plan.limits.recordedTurns = each + 8
    let limited = plan
    let problem = await #expect(throws: SimulationProblem.self) {
      _ = try await limited.run()
    }
    #expect(problem?.description.contains("hangs too often") == true)
    #expect(problem?.description.contains("variant 'two'") == true)
  }

  // MARK: Names

  @Test(arguments: [
    ("view(CounterVew).mean < 2ms", "there is no view 'CounterVew'; did you mean 'CounterView'?"),
    ("effect(frist).failed == 0", "there is no effect 'frist'; did you mean 'first'?"),
    ("hangs == 0 for devise", "there is no variant or device 'devise'; did you mean 'device'?"),
  ])
  func `a threshold that names an unknown action, view or variant of the screen is an error`(
    text: String, message: String
  ) async {
    let problem = await #expect(throws: SimulationProblem.self) {
      _ = try await run([.at(.seconds(1), event: .added(1))], on: device(), thresholds: [text])
    }
    #expect(problem?.description == "\(text): \(message)")
  }

  @Test func `a cost that names an unknown action or view of the screen is an error`() async throws
  {
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.zero))
    let events: [EventStream<Counter.Action>] = [.at(.seconds(1), event: .added(1))]
    let action = await #expect(throws: SimulationProblem.self) {
      _ = try await run(events, on: device(costs: costs.action("aded", .zero)))
    }
    #expect(action?.description.hasSuffix("did you mean 'added'?") == true)
    let view = await #expect(throws: SimulationProblem.self) {
      _ = try await run(events, on: device(costs: costs.view("CountView", .cost(.zero))))
    }
    #expect(view?.description.hasSuffix("did you mean 'CounterView'?") == true)
  }

  @Test func `a view listed by a variant must exist in the screen`() async throws {
    func plan(_ views: String...) -> SimulationPlan {
      SimulationPlan(
        "listed", duration: .seconds(1), devices: [device()],
        variants: [screen.variant("one", views: views, events: [])])
    }
    let report = try await plan("CounterView").run().report
    #expect(report.runs.first?.views.map(\.name) == ["CounterView"])
    let problem = await #expect(throws: SimulationProblem.self) {
      _ = try await plan("CounterView", "CounterVew").run()
    }
    #expect(
      problem?.description
        == "the variant 'one' lists the view 'CounterVew', which never appeared; did you mean "
        + "'CounterView'?")
  }
}

/// A feature that records the values that its simulated world provides.
@Reducer
struct Dice {
  @ObservableState
  struct State: Equatable, Sendable {
    var rolls: Int = 0
  }

  enum Action: Sendable { case rolled }

  let dependencies: Dependencies
  let note: @Sendable (_ identifier: UInt64, _ number: Int) -> Void

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    state.rolls += 1
    let (identifier, number) = (
      dependencies.identifiers.next(), dependencies.randomness.next(in: 1...1_000_000)
    )
    return .run { [dependencies, note] _ in
      try await dependencies.clock.sleep(for: .milliseconds(250))
      note(identifier, number)
    }
  }
}

struct DiceView: View {
  static let name = "DiceView"
  func body(_ state: Observed<Dice.State>, _ context: ViewContext) -> ViewNode {
    .text("\(state.rolls)")
  }
}

struct WorldTests {
  private final class Notes: Sendable {
    private let all = Mutex<[[Int]]>([])
    func add(_ identifier: UInt64, _ number: Int) {
      all.withLock { $0.append([Int(identifier), number]) }
    }
    var taken: [[Int]] { all.withLock { exchange(&$0, with: []) } }
  }

  private func roll(seed: UInt64) async throws -> [[Int]] {
    let notes = Notes()
    let screen = SimulatedScreen<Dice.Action>(
      DiceView(), state: { Dice.State() },
      reducer: { (world: SimulatedWorld) -> Dice in
        Dice(dependencies: world.dependencies) { notes.add($0, $1) }
      }, on: { (action: Dice.Action) -> [Dice.Action] in [action] })
    let device = Device(
      "device", costs: DeviceProfile.Costs(action: .zero, view: .cost(.milliseconds(1))))
    _ = try await screen.simulate(
      [.every(.milliseconds(100), until: .seconds(3)) { _ in .rolled }], on: [device],
      for: .seconds(3), seed: seed)
    return notes.taken
  }

  @Test func `a simulated screen's clocks, identifiers and random numbers depend only on the seed`()
    async throws
  {
    let one = try await roll(seed: 1)
    // The last two tasks sleep until after the end.
    #expect(one.map { $0[0] } == Array(1...28))
    #expect(Set(one.map { $0[1] }).count == 28)
    #expect(try await roll(seed: 1) == one)
    let other = try await roll(seed: 2)
    #expect(other.map { $0[0] } == one.map { $0[0] } && other.map { $0[1] } != one.map { $0[1] })
  }
}
