import Composable
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import RecorderFeature
import ViewGraph

/// One variant of the screen on one device, from the first event to the end of the scenario.
///
/// A single thread draws the screen. Events gather during a turn; the next turn takes all that have
/// arrived, reduces them, and evaluates the dirty views if a frame is due. The turn lasts as long
/// as this takes on the device.
final class SimulatedRun {
  let device: Device
  let variant: Scenario.Variant
  private let duration: VirtualTime
  let screen: HostScreen
  private let clock: SimulatedClock
  private let pool: SimulationLane
  private let lane: SimulationLane
  private let effects: SimulatedEffects
  @exclusivity(unchecked) private var feed: EventFeed
  @exclusivity(unchecked) private var collector: RunCollector
  private let trace: TraceRecorder?
  private let grid: FrameGrid
  /// When the first effect went on that has something for the thread; `nil` if none has.
  @exclusivity(unchecked) private var resumedAt: VirtualTime?
  /// The screen has nothing to draw before this refresh and need not be asked until then.
  @exclusivity(unchecked) private var nextRefresh = VirtualTime.zero

  init(_ scenario: Scenario, _ device: Device, _ variant: Scenario.Variant, trace: TraceRecorder?) {
    self.device = device
    self.variant = variant
    self.trace = trace
    duration = scenario.duration
    let settings = variant.settings
    feed = EventFeed(scenario, load: settings.load)
    clock = SimulatedClock(costs: CostTable(device, settings.costs))
    let rate = settings.refreshRate ?? device.profile.refreshRate
    grid = FrameGrid(framesPerSecond: Int64(rate))
    collector = RunCollector(duration: duration, framesPerSecond: rate)
    let pool = SimulationLane()
    (self.pool, lane) = (pool, SimulationLane(pool: pool))
    effects = SimulatedEffects(scenario, device, on: pool, trace: trace) { [clock] in
      VirtualTime(nanoseconds: clock.time)
    }
    trace?.begin("\(device.name), \(variant.name)")
    if let trace { clock.onAppearance = { trace.appearance($0, $1) } }
    // Draws the first frame: that is the first turn.
    screen = HostScreen(
      lane: lane, framesPerSecond: rate, tracking: settings.children,
      throttling: settings.throttling, analysesChat: effects.analysesChat, clock: clock,
      dependencies: effects.dependencies)
    start(scenario)
  }

  private func start(_ scenario: Scenario) {
    screen.store.onAction { [clock, trace, actions = screen.store.actionTrace] action in
      let (kind, start) = (ActionKinds.all.number(of: actions), clock.time)
      clock.reduce(kind, elements: action.elementCount)
      trace?.action(kind, start, clock.time)
    }
    for name in HostView.names {
      for record in screen.views.log.records(of: name) { note(record) }
    }
    screen.views.onEvaluation = { [unowned self] in note($0) }
    screen.onEffectInput = { [unowned self] in take($0) }
    for input in effects.firstInputs { take(input) }
    endTurn(from: 0, isFrame: true)
    for source in scenario.sources {
      guard case .recorded(let recorded) = source else { continue }
      for (reason, count) in recorded.rejections { screen.reject(reason, count) }
    }
    collector.noteShown(by: screen, at: clock.time)
  }

  private func note(_ record: EvaluationRecord) {
    collector.note(record)
    trace?.evaluation(record)
  }

  deinit {
    // What effects still wait for never comes.
    screen.store.cancelEffects()
    runEffects()
  }

  /// Takes what an effect brought back, as a room does.
  private func take(_ input: EffectInput) {
    switch input {
    case .event(let event): perform(event)
    case .recorder(let input): screen.send(.recorder(.own(input)))
    }
  }

  private func perform(_ event: LiveEvent.Payload) {
    let now = Instant(nanoseconds: clock.time)
    let timestamp = screen.eventTime(at: now) ?? 0
    _ = screen.perform(LiveEvent(timestamp: timestamp, payload: event), at: now)
  }

  /// Progress of the run.
  var time: VirtualTime { min(VirtualTime(nanoseconds: clock.time), duration) }

  /// Does about this much work, in units of a few hundred nanoseconds (one held event).
  ///
  /// - Returns: Whether there is more to do.
  func advance(work: Int) -> Bool {
    let end = collector.work + work
    while collector.work < end { guard turn() else { return false } }
    return true
  }

  /// One turn of the thread, or one step of what goes on beside it.
  private func turn() -> Bool {
    let wake = wake()
    if let next = effects.nextTime, next <= duration, isEffectNext(next, before: wake) {
      effects.resumeNext()
      pool.run()
      collector.noteStep()
      // Its thread takes it up when it is free.
      if !lane.isIdle { resumedAt = resumedAt ?? next }
      return true
    }
    guard let wake, !(duration < wake) else { return false }
    clock.wait(until: wake)
    let start = clock.time
    receive(until: start)
    screen.reduce()
    runEffects()
    let isFrame = isFrameDue
    if isFrame { drawFrame() }
    runEffects()
    if isFrame { collector.noteShown(by: screen, at: clock.time) }
    endTurn(from: start, isFrame: isFrame)
    return true
  }

  /// Whether an effect goes on before the thread has something to do, or while it is still busy.
  private func isEffectNext(_ next: VirtualTime, before wake: VirtualTime?) -> Bool {
    if next.nanoseconds <= clock.time { return true }
    return lane.isIdle && wake.map { next <= $0 } ?? true
  }

  /// Runs what effects have ready for the thread, and what they begin.
  private func runEffects() {
    resumedAt = nil
    while !lane.isIdle || !pool.isIdle {
      effects.pass(to: VirtualTime(nanoseconds: clock.time))
      lane.run()
      pool.run()
    }
  }

  /// When the thread has something to do next: an event, a frame, or what an effect has for it.
  private func wake() -> VirtualTime? {
    guard let resumedAt else { return wakeOfScreen() }
    return wakeOfScreen().map { min($0, resumedAt) } ?? resumedAt
  }

  private func wakeOfScreen() -> VirtualTime? {
    let event = feed.nextTime
    if let event, event < nextRefresh { return event }
    guard let frame = screen.nextFrame else { return event }
    let due = VirtualTime(nanoseconds: frame.nanoseconds)
    return event.map { min($0, due) } ?? due
  }

  private var isFrameDue: Bool {
    guard nextRefresh.nanoseconds <= clock.time, let frame = screen.nextFrame else { return false }
    return frame.nanoseconds <= clock.time
  }

  private func drawFrame() {
    let now = Instant(nanoseconds: clock.time)
    nextRefresh = VirtualTime(nanoseconds: grid.frame(after: now).nanoseconds)
    screen.drawFrame(at: now)
  }

  private func endTurn(from start: Int64, isFrame: Bool) {
    collector.endTurn(
      from: start, to: clock.time, costliest: clock.takeCostliestAction(),
      appearance: clock.takeAppearanceCost())
    trace?.turn(start, clock.time, isFrame: isFrame)
  }

  private func receive(until time: Int64) {
    let now = Instant(nanoseconds: time)
    // Nothing is processed after the end, even if a turn that began earlier is still running.
    feed.receive(until: min(VirtualTime(nanoseconds: time), duration)) { delivery, _ in
      screen.receive(delivery.event, at: now)
      collector.noteReceived(delivery.event.payload, intended: delivery.intended, at: time)
    }
  }

  // MARK: Result

  /// The result; complete once the run has ended.
  func report() -> RunReport {
    collector.report(
      device: device, variant: variant.name, counts: screen.counts,
      actions: Int(screen.store.actionCount), frames: Int(screen.views.frames),
      statistics: screen.views.statistics, faults: feed.faultCounts, effects: effects.reports)
  }
}
