public import Composable
public import RateLimiting
public import ViewGraph

/// A screen as an app has it, made ready to be simulated: state, reducer, root view, and what an event becomes.
///
///     let checkout = SimulatedScreen(CheckoutView(), state: { Checkout.State() }) { world in
///       Checkout(dependencies: world.dependencies)
///     } on: { (event: ShopEvent) in [.shop(event)] }
///     let report = try await checkout.simulate(
///       [.poisson(every: .milliseconds(20)) { random in .stockChanged(random.integer(in: 1...500)) }],
///       on: [phone], for: .seconds(60), seed: 1)
///     #expect(report.hangs == 0)
///
/// Each run has a state, reducer and views of its own, so that no run affects another.
public struct SimulatedScreen<Event: Sendable>: Sendable {
  private let make:
    @Sendable (SimulatedWorld, [AnyEventSource<Event>], [Fault]) -> any RunningScreen

  /// A screen.
  ///
  /// - Parameters:
  ///   - root: the view at the top.
  ///   - state: the state at the beginning.
  ///   - ignored: fields whose changes are not observed, instead of those that the state itself ignores: for
  ///     variants.
  ///   - elements: how many elements an action carries, for costs per element.
  ///   - reducer: makes the reducer, in a world that has clocks, random numbers and effects for it.
  ///   - event: what an event becomes, at once.
  public init<Root: View & SendableMetatype, R: Reducer & SendableMetatype>(
    _ root: @autoclosure @escaping @Sendable () -> Root,
    state: @escaping @Sendable () -> Root.State, ignoring ignored: FieldSet? = nil,
    elements: @escaping @Sendable (R.Action) -> Int = { _ in 0 },
    reducer: @escaping @Sendable (SimulatedWorld) -> R,
    on event: @escaping @Sendable (Event) -> [R.Action]
  ) where R.State == Root.State, R.State: SendableMetatype {
    self.init(
      root(), state: state, ignoring: ignored, elements: elements, reducer: reducer,
      intake: { DirectIntake(event) })
  }

  /// A screen whose events pass a stage that may hold or thin them.
  ///
  /// - Parameter intake: makes that stage.
  public init<
    Root: View & SendableMetatype, R: Reducer & SendableMetatype,
    I: EventIntake<Event, R.Action> & SendableMetatype
  >(
    _ root: @autoclosure @escaping @Sendable () -> Root,
    state: @escaping @Sendable () -> Root.State, ignoring ignored: FieldSet? = nil,
    elements: @escaping @Sendable (R.Action) -> Int = { _ in 0 },
    reducer: @escaping @Sendable (SimulatedWorld) -> R,
    intake: @escaping @Sendable () -> I
  ) where R.State == Root.State, R.State: SendableMetatype {
    make = { world, sources, faults in
      StoreScreen(
        root(), state(), ignored, world,
        feed: EventFeed(sources, faults: faults, seed: world.seed), faults: faults,
        intake: intake(), elements: elements
      ) { reducer(world) }
    }
  }

  /// This screen as a variant of a plan, with the events that it gets.
  ///
  /// - Parameter views: names of views, in the order of the reports. Others follow as they appear; one that no run
  ///   shows is an error.
  public func variant(
    _ name: String, framesPerSecond: Int? = nil, views: [String] = [],
    events: [EventStream<Event>], faults: [Fault] = []
  ) -> SimulationPlan.Variant {
    var variant = SimulationPlan.Variant(
      name, framesPerSecond: framesPerSecond, views: views
    ) { [make] world in
      let sources = events.enumerated().map { number, stream in
        stream.source(
          SeededGenerator(seed: world.seed, stream: UInt64(number + 1) * 8), world.load)
      }
      return make(world, sources, faults)
    }
    variant.lastEvent = events.compactMap(\.last).max()
    return variant
  }

  /// Simulates this screen alone.
  ///
  /// - Parameters:
  ///   - name: the name of the report.
  ///   - duration: how long it lasts, in virtual time.
  ///   - seed: everything that is left to chance follows from it.
  ///   - thresholds: conditions to check; see ``Threshold``.
  /// - Throws: ``SimulationProblem``, ``ThresholdProblem``, `CancellationError`.
  public func simulate(
    _ events: [EventStream<Event>], faults: [Fault] = [], on devices: [Device],
    for duration: Duration, seed: UInt64 = 0, bounds: HangBounds = .platform,
    thresholds: [String] = [], name: String = "simulation"
  ) async throws -> SimulationReport {
    let plan = SimulationPlan(
      name, seed: seed, duration: VirtualTime(duration), devices: devices,
      variants: [variant("default", events: events, faults: faults)],
      thresholds: try thresholds.map { try Threshold($0) }, bounds: bounds)
    return try await plan.run().report
  }
}

/// What stands between events and actions: passes events on, holds them, or lets them supersede each other. A
/// pure value: time is passed in.
public protocol EventIntake<Event, Action> {
  /// What comes.
  associatedtype Event
  /// What it becomes.
  associatedtype Action

  /// Takes an event. Appends the actions that are due at once.
  mutating func receive(_ event: Event, at now: Instant, into actions: inout [Action])

  /// Appends the actions that are due; called once per frame, before it is drawn.
  mutating func wake(at now: Instant, into actions: inout [Action])

  /// When ``wake(at:into:)`` has something to give at the latest; `nil` if nothing is held.
  var deadline: Instant? { get }

  /// Events that are held: neither applied nor superseded yet.
  var pending: Int { get }

  /// Events that a newer one superseded so far.
  var coalesced: Int { get }
}

/// Each event becomes its actions at once.
private struct DirectIntake<Event, Action>: EventIntake {
  let actions: (Event) -> [Action]
  init(_ actions: @escaping (Event) -> [Action]) { self.actions = actions }
  mutating func receive(_ event: Event, at now: Instant, into actions: inout [Action]) {
    actions += self.actions(event)
  }
  mutating func wake(at now: Instant, into actions: inout [Action]) {}
  var deadline: Instant? { nil }
  var pending: Int { 0 }
  var coalesced: Int { 0 }
}
