import Composable
import HangSimulation
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import RecorderFeature
import Throttling
import ViewGraph
import Wording

/// The host's screen in a simulation. It is the same code as in the daemon, and handles the results
/// of effects in the same way as a room.
final class HostRun: SlicedScreen {
  /// The maximum number of events in flight, which are created but have not arrived yet because of
  /// a fault or lateness. An event takes about 400 bytes.
  private static let limit = 200_000

  let screen: HostScreen
  private let world: SimulatedWorld
  private let firstInputs: [EffectInput]
  private let rejections: [(reason: RejectionReason, count: Int)]
  @exclusivity(unchecked) private var feed: EventFeed<ScenarioSource>
  private let shared: SharedState
  /// The number of events that ``consumeUnseen()`` will return.
  @exclusivity(unchecked) private var unseen = 0
  private let sources: [SourceDescription]
  private let load: Int64

  init(_ scenario: Scenario, _ settings: RunSettings, _ world: SimulatedWorld) {
    self.world = world
    // The scenario's seed is replaced, because a sweep runs the same scenario with many seeds.
    var scenario = scenario
    scenario.seed = world.seed
    shared = SharedState(sources: scenario.sources.count, limit: Self.limit)
    let load = Int64(clamping: Int128(settings.load) * Int128(world.load) / 1_000_000)
    self.load = load
    feed = EventFeed(scenario, load: load, shared: shared)
    faults = scenario.faults
    sources = scenario.sources
    let effects = HostEffects(scenario.effects, world)
    firstInputs = effects.firstInputs
    rejections = scenario.sources.flatMap { source in
      guard case .recorded(let recorded) = source else { return [] as [(RejectionReason, Int)] }
      return recorded.rejections.map { ($0.reason, $0.count) }
    }
    screen = HostScreen(
      lane: world.lane, framesPerSecond: world.framesPerSecond, tracking: settings.children,
      throttling: settings.throttling, analysesChat: effects.analysesChat,
      clock: world.evaluationClock, dependencies: effects.dependencies)
    screen.onEffectInput = { [unowned self] in apply($0) }
  }

  var views: ViewGraph { screen.views }
  var actions: ActionTrace { screen.store.actionTrace }
  var actionCount: Int { Int(screen.store.actionCount) }
  var nextFrame: Instant? { screen.nextFrame }
  var nextArrival: VirtualTime? { feed.nextTime }
  var faultCounts: FaultCounts { feed.faultCounts }
  let faults: [Fault]
  var eventTotals: EventTotals {
    let counts = screen.counts
    return EventTotals(
      received: counts.received, coalesced: counts.coalesced, rejected: counts.rejected,
      pending: counts.pending)
  }

  func onAction(_ body: @escaping (_ elements: Int) -> Void) {
    screen.store.onAction { body($0.elementCount) }
  }

  func onActionBegin(_ body: @escaping () -> Void) { screen.store.onActionBegin(body) }
  func look(_ sizes: inout StateSizes) { screen.store.look(&sizes) }

  func begin() {
    for input in firstInputs { apply(input) }
    for (reason, count) in rejections { screen.reject(reason, count) }
  }

  func receive(
    until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void
  ) {
    while receiveNext(until: time, at: now, noting: note) {}
  }

  func receive(
    atMost most: Int, until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void
  ) -> Bool {
    for _ in 0..<most {
      if unseen >= most { return true }
      guard !shared.isFull, let arrival = feed.nextTime, !(time < arrival) else { return false }
      // Advances only to the next instant, because any number of held-back events may be due before
      // the first event arrives.
      _ = receiveNext(until: arrival, passing: SimulationSlice.work, at: now, noting: note)
    }
    return true
  }

  func consumeUnseen() -> Int { exchange(&unseen, with: 0) }

  var overload: Int? { shared.isFull ? Self.limit : nil }

  var remedy: String {
    let number = shared.busiest
    guard let most = sources[number].mostPerSecond(load: load) else {
      return "send fewer events of events[\(number)] at the same time"
    }
    return "lower the rate of events[\(number)], which sends up to \(Format.count(most)) per second"
  }

  func receiveWhileQuiet(
    until limit: VirtualTime,
    noting note: (_ throttle: Int, _ intended: VirtualTime, _ taken: VirtualTime) -> Void,
    endTurn: (_ start: VirtualTime) -> Bool
  ) -> VirtualTime? {
    var arrival = feed.nextTime
    var together = 0
    while let time = arrival, !(limit < time), !shared.isFull {
      _ = receiveNext(
        until: time, passing: SimulationSlice.work, at: Instant(nanoseconds: time.nanoseconds)
      ) { note($0, $1, time) }
      arrival = feed.nextTime
      // A turn receives all events that arrive together. If there are too many for this loop, it
      // ends here and the caller processes the turn.
      if arrival == time {
        together += 1
        if max(together, unseen) < SimulationSlice.work { continue }
        return time
      }
      together = 0
      if screen.wantsReducing { return time }
      guard endTurn(time), unseen < SimulationSlice.work else { break }
    }
    // Received events are counted only when the screen reduces them.
    screen.reduce()
    return nil
  }

  /// Receives the next event. Returns false if no event arrives up to `time`.
  private func receiveNext(
    until time: VirtualTime, passing most: Int = .max, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void
  ) -> Bool {
    guard !shared.isFull else { return false }
    let before = shared.total
    guard let delivery = feed.next(until: time, passing: most) else {
      unseen += shared.total - before
      countFaults()
      return false
    }
    unseen += max(0, shared.total - before - 1)
    countFaults()
    shared.countArrival()
    // The event is read only once, because each access copies the delivery and all its texts.
    let event = delivery.event
    note(ThrottledKind.of(event.payload)?.number ?? 0, delivery.intended)
    screen.receive(event, at: now)
    return true
  }

  private func countFaults() {
    if !faults.isEmpty { shared.add(feed.faultCounts) }
  }

  func reduce() { screen.reduce() }
  func drawFrame(at now: Instant) { screen.drawFrame(at: now) }
  func cancelEffects() { screen.store.cancelEffects() }

  func pending(_ throttle: Int) -> Int {
    screen.pending(of: ThrottledKind.allCases[throttle - 1])
  }

  private func apply(_ input: EffectInput) {
    switch input {
    case .event(let event):
      let now = world.now
      let timestamp = screen.eventTime(at: now) ?? 0
      _ = screen.perform(LiveEvent(timestamp: timestamp, payload: event), at: now)
    case .recorder(let input): screen.send(.recorder(.own(input)))
    }
  }
}

extension ThrottledKind {
  /// The number of the throttle, starting at 1, in the order of the declaration.
  fileprivate var number: Int {
    switch self {
    case .chat: 1
    case .waitingRoom: 2
    case .controls: 3
    case .meters: 4
    case .reactions: 5
    case .viewers: 6
    case .votes: 7
    case .statistics: 8
    case .progress: 9
    case .sources: 10
    case .goals: 11
    }
  }
}
