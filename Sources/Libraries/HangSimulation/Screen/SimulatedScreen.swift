public import Composable
public import RateLimiting
public import ViewGraph

/// The screen of an app, prepared for simulation: its state, reducer, root view, and the conversion
/// of events into actions.
///
///     let checkout = SimulatedScreen(CheckoutView(), state: { Checkout.State() }) { world in
///       Checkout(dependencies: world.dependencies)
///     } on: { (event: ShopEvent) in [.shop(event)] }
///     let report = try await checkout.simulate(
///       [.poisson(every: .milliseconds(20)) { random in .stockChanged(random.integer(in: 1...500)) }],
///       on: [phone], for: .seconds(60), seed: 1)
///     #expect(report.hangs == 0)
///
/// Each run creates its own state, reducer, and views, so runs do not affect each other.
public struct SimulatedScreen<Event: Sendable>: Sendable {
  private let make:
    @Sendable (SimulatedWorld, [AnyEventSource<Event>], [Fault]) -> any RunningScreen

  /// Creates a screen whose events become actions immediately.
  ///
  /// - Parameters:
  ///   - root: The root view.
  ///   - state: Creates the initial state.
  ///   - ignored: The fields whose changes are not observed, instead of the fields that the state
  ///     itself ignores. Use it to compare variants.
  ///   - elements: Returns how many elements an action carries, for costs per element.
  ///   - reducer: Creates the reducer, in a world that provides clocks, random numbers, and
  ///     effects.
  ///   - event: Converts an event into actions.
  public init<Root: View & SendableMetatype, R: Reducer & SendableMetatype>(
    _ root: @autoclosure @escaping @Sendable () -> Root,
    state: @escaping @Sendable () -> Root.State, ignoring ignored: FieldSet? = nil,
    elements: @escaping @Sendable (R.Action) -> Int = { _ in 0 },
    reducer: @escaping @Sendable (SimulatedWorld) -> R,
    on event: @escaping @Sendable (Event) -> [R.Action]
  ) where R.State == Root.State, R.State: SendableMetatype {
    self.init(
      root(), state: state, ignoring: ignored, elements: elements, reducer: reducer,
      throttle: { DirectThrottle(event) })
  }

  /// Creates a screen whose events pass through a stage, created by `intake`, that may hold or
  /// coalesce them.
  public init<
    Root: View & SendableMetatype, R: Reducer & SendableMetatype,
    I: EventThrottle<Event, R.Action> & SendableMetatype
  >(
    _ root: @autoclosure @escaping @Sendable () -> Root,
    state: @escaping @Sendable () -> Root.State, ignoring ignored: FieldSet? = nil,
    elements: @escaping @Sendable (R.Action) -> Int = { _ in 0 },
    reducer: @escaping @Sendable (SimulatedWorld) -> R,
    throttle: @escaping @Sendable () -> I
  ) where R.State == Root.State, R.State: SendableMetatype {
    make = { world, sources, faults in
      StoreScreen(
        root(), state(), ignored, world,
        feed: EventFeed(sources, faults: faults, seed: world.seed), faults: faults,
        throttle: throttle(), elements: elements
      ) { reducer(world) }
    }
  }

  /// Returns this screen as a variant of a plan, with its events. `views` are the names of the
  /// views that come first in reports; other views follow in the order in which they appear. Naming
  /// a view that appears in no run is an error.
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

  /// Simulates this screen alone for `duration` in virtual time, and checks the conditions
  /// `thresholds` (``Threshold``). `seed` determines all random choices, and `name` is the name of
  /// the report.
  ///
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

/// A stage between events and actions that passes events on, holds them, or coalesces them. A pure
/// value: the current time is passed in.
public protocol EventThrottle<Event, Action> {
  /// The type of its events.
  associatedtype Event
  /// The type of its actions.
  associatedtype Action

  /// Receives an event, and appends the actions that are due immediately.
  mutating func receive(_ event: Event, at now: Instant, into actions: inout [Action])

  /// Appends the actions that are due. Called once per frame, before the frame is drawn.
  mutating func wake(at now: Instant, into actions: inout [Action])

  /// The latest time at which ``wake(at:into:)`` has actions to append; `nil` if nothing is held.
  var deadline: Instant? { get }

  /// The number of held events: neither applied nor coalesced yet.
  var pending: Int { get }

  /// The number of events that newer events have superseded so far.
  var coalesced: Int { get }
}

/// Converts each event into its actions immediately.
private struct DirectThrottle<Event, Action>: EventThrottle {
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
