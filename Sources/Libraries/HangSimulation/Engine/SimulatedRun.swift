import Composable
import RateLimiting
import ViewGraph
import Wording

/// A run of one variant of the screen on one device, from the first event to the end of the
/// scenario.
///
/// A single thread draws the screen. Events queue up during a turn. The next turn receives all
/// queued events, reduces them, and evaluates the dirty views if a frame is due. The length of the
/// turn is the cost of this work on the device.
///
/// A turn with many events is spread over several slices of work, which receive and reduce events
/// at the time at which the turn began, and do not affect the result.
package final class SimulatedRun {
  let device: Device
  let variant: SimulationPlan.Variant
  private let duration: VirtualTime
  package let screen: any RunningScreen
  /// The screen, if it can stop between two events of the same instant; otherwise `nil`.
  let sliced: (any SlicedScreen)?
  private let limits: RunLimits
  let clock: SimulatedClock
  let world: SimulatedWorld
  @exclusivity(unchecked) private(set) var collector: RunCollector
  private let trace: TraceRecorder?
  private let recorder: CostRecorder?
  let watch: RunWatch?
  private let grid: FrameGrid
  /// The time at which the first effect with work for the thread resumed; `nil` if there is none.
  @exclusivity(unchecked) private var resumedAt: VirtualTime?
  /// The first refresh at which the screen may have something to draw. Before that time, the screen
  /// is not asked.
  @exclusivity(unchecked) private var nextRefresh = VirtualTime.zero
  /// The start of the turn that has not received all of its events yet; `nil` between turns.
  @exclusivity(unchecked) private var openTurn: Int64?
  /// The reason why the run ended early; `nil` otherwise.
  @exclusivity(unchecked) private(set) var problem: SimulationProblem?

  init(
    _ plan: SimulationPlan, _ device: Device, _ variant: SimulationPlan.Variant,
    trace: TraceRecorder? = nil, recorder: CostRecorder? = nil, measuring: Measuring = .nothing
  ) throws(SimulationProblem) {
    if let last = variant.lastEvent, plan.duration < last {
      throw SimulationProblem(
        description:
          "the variant '\(variant.name)' has an event at \(FixedPoint.seconds(last.nanoseconds)), after "
          + "the end of the simulation at \(FixedPoint.seconds(plan.duration.nanoseconds))")
    }
    self.device = device
    self.variant = variant
    self.trace = trace
    duration = plan.duration
    limits = plan.limits
    self.recorder = recorder
    clock = SimulatedClock(
      costs: CostTable(device, variant.costs), recorder: recorder,
      spendsMeasured: measuring == .costs)
    let rate = variant.framesPerSecond ?? device.profile.refreshRate
    grid = FrameGrid(framesPerSecond: Int64(rate))
    collector = RunCollector(
      duration: duration, framesPerSecond: rate, bounds: plan.bounds, views: variant.views)
    world = SimulatedWorld(
      device, seed: plan.seed, duration: plan.duration, framesPerSecond: rate,
      load: plan.load, clock: clock,
      trace: trace)
    let effects = measuring == .nothing ? nil : EffectMeter()
    if let effects { world.measureEffects(with: effects, spending: measuring == .costs) }
    trace?.begin("\(device.name), \(variant.name)")
    if let trace { clock.onAppearance = { trace.appearance($0, $1) } }
    // Draws the first frame, which is the first turn.
    let screen = variant.make(world)
    self.screen = screen
    sliced = screen as? any SlicedScreen
    clock.look = { [unowned screen] in screen.look(&$0) }
    watch = RunWatch(measuring, clock, effects, duration: duration) { [unowned screen] in
      screen.look(&$0)
    }
    clock.watch = watch
    let kinds = ActionKinds(screen.actions)
    for name in device.profile.costs.actions.keys.sorted() where !kinds.names.contains(name) {
      throw SimulationProblem(
        description:
          "the device '\(device.name)' has costs of the action '\(name)', which the screen "
          + "does not have" + Spelling.hint(for: name, among: kinds.names))
    }
    start(kinds)
  }

  private func start(_ kinds: ActionKinds) {
    clock.prepare(for: kinds)
    watch?.prepare(for: kinds)
    if let watch { screen.onActionBegin { watch.beginAction() } }
    screen.onAction {
      [clock, trace, recorder, watch, actions = screen.actions, unowned screen] elements in
      let (kind, start) = (kinds.number(of: actions), clock.time)
      recorder?.endAction(kinds.name(kind), elements: elements)
      let measured = watch?.endAction(kind, kinds.name(kind), elements: elements) ?? 0
      clock.reduce(kind, elements: elements, measured: measured)
      watch?.reduced(kind, cost: clock.time - start, isFeedback: screen.isFeedback)
      trace?.action(kinds.name(kind), start, clock.time)
    }
    let others = screen.views.statistics.keys.filter { !variant.views.contains($0) }
    for name in variant.views + others.sorted() {
      for record in screen.views.log.records(of: name) { recordEvaluation(record) }
    }
    screen.views.onEvaluation = { [unowned self] in
      recordEvaluation($0)
      watch?.record($0)
    }
    if let watch { screen.views.onRemoval = { watch.removed($0, $1) } }
    screen.begin()
    endTurn(from: 0, isFrame: true)
    collector.recordShown(by: screen, at: clock.time)
  }

  private func recordEvaluation(_ record: EvaluationRecord) {
    collector.recordEvaluation(record)
    trace?.evaluation(record)
  }

  deinit {
    // After the run, nothing answers effects that still wait.
    screen.cancelEffects()
    runEffects()
  }

  /// The current time of the run.
  package var time: VirtualTime { min(VirtualTime(nanoseconds: clock.time), duration) }

  /// Does about this much work, and returns whether more work remains. A unit is the work of
  /// receiving an event that a throttle holds: a few hundred nanoseconds.
  package func advance(work: Int) -> Bool {
    let end = collector.work + work
    while collector.work < end { guard turn(until: end) else { return false } }
    return true
  }

  /// Runs one of three steps: a turn of the thread, with the preceding turns that only receive
  /// events; a part of a turn with many events; or a step of an effect outside the thread. No turn
  /// begins once the total work of the run has reached `end`.
  private func turn(until end: Int) -> Bool {
    guard !isOverloaded() else { return false }
    if let openTurn { return work(onTurnFrom: openTurn, until: end) }
    let wake = wake()
    if let next = world.nextTime, next <= duration, isEffectNext(next, before: wake) {
      world.resumeNext()
      collector.countStep()
      // The thread continues the effect when the thread is free.
      if world.wantsThread { resumedAt = resumedAt ?? next }
      return true
    }
    guard let wake, !(duration < wake) else { return false }
    if let limit = quietLimit(from: wake) {
      guard let busy = receiveWhileQuiet(until: limit, end) else { return true }
      clock.wait(until: busy)
    } else {
      clock.wait(until: wake)
    }
    return work(onTurnFrom: clock.time, until: end)
  }

  /// Receives and reduces the events that arrived before the turn began, as far as the slice
  /// allows. Finishes the turn after the last event that arrived before it.
  private func work(onTurnFrom start: Int64, until end: Int) -> Bool {
    let hasMore = receive(until: start, end)
    recorder?.beginTurn()
    watch?.beginTurn()
    world.beginTurn()
    screen.reduce()
    if hasMore {
      openTurn = start
      collector.endSlice(at: end)
      return true
    }
    openTurn = nil
    runEffects()
    let isFrame = isFrameDue
    if isFrame { drawFrame() }
    runEffects()
    if isFrame {
      recorder?.endFrame(simulated: clock.time - start)
      collector.recordShown(by: screen, at: clock.time)
    }
    endTurn(from: start, isFrame: isFrame)
    return true
  }

  /// Whether an effect resumes before the thread's next work, or while the thread is busy.
  private func isEffectNext(_ next: VirtualTime, before wake: VirtualTime?) -> Bool {
    if next.nanoseconds <= clock.time { return true }
    return !world.wantsThread && wake.map { next <= $0 } ?? true
  }

  /// Runs the work that effects have scheduled on the thread, and the work that follows from it.
  private func runEffects() {
    resumedAt = nil
    guard let watch else { return world.runEffects() }
    watch.whileEffectsRun { world.runEffects() }
  }

  /// Returns the time of the thread's next work: an event, a frame, or work of an effect.
  private func wake() -> VirtualTime? {
    guard let resumedAt else { return wakeOfScreen() }
    return wakeOfScreen().map { min($0, resumedAt) } ?? resumedAt
  }

  private func wakeOfScreen() -> VirtualTime? {
    let event = screen.nextArrival
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
    watch?.endTurn(at: clock.time)
    collector.endTurn(
      from: start, to: clock.time, costliest: clock.consumeCostliestAction(),
      appearance: clock.consumeAppearanceCost(), isFrame: isFrame)
    trace?.turn(start, clock.time, isFrame: isFrame)
  }

  /// Receives the events that have arrived up to `time`. Returns whether more events may have
  /// arrived than fit into the slice.
  private func receive(until time: Int64, _ end: Int) -> Bool {
    let now = Instant(nanoseconds: time)
    // No event is processed after the end of the run, even in a turn that began earlier.
    let limit = min(VirtualTime(nanoseconds: time), duration)
    func recordReceipt(_ throttle: Int, _ intended: VirtualTime) {
      collector.recordReceipt(throttle, intended: intended, at: time)
    }
    guard recorder == nil else {
      // Receives all events together, so that the measured time excludes their creation.
      screen.receive(until: limit, at: now, noting: recordReceipt)
      return false
    }
    if let sliced {
      let hasMore = sliced.receive(
        atMost: max(1, end - collector.work), until: limit, at: now, noting: recordReceipt)
      collector.countStep(sliced.consumeUnseen())
      return hasMore
    }
    while let next = screen.nextArrival, !(limit < next) {
      guard collector.work < end else { return true }
      screen.receive(until: next, at: now, noting: recordReceipt)
      // Events that a fault holds back count as work.
      collector.countStep()
    }
    return false
  }

  /// Returns the time until which turns only receive events, if the turn that begins at `wake` does
  /// only that; otherwise `nil`. Until the returned time, no frame is due and no effect resumes.
  private func quietLimit(from wake: VirtualTime) -> VirtualTime? {
    guard clock.time <= wake.nanoseconds, wake < nextRefresh, resumedAt == nil, trace == nil,
      recorder == nil, !world.wantsThread
    else { return nil }
    var limit = min(nextRefresh.nanoseconds - 1, duration.nanoseconds)
    if let next = world.nextTime { limit = min(limit, next.nanoseconds - 1) }
    return limit < wake.nanoseconds ? nil : VirtualTime(nanoseconds: limit)
  }

  private func receiveWhileQuiet(until limit: VirtualTime, _ end: Int) -> VirtualTime? {
    defer { if let sliced { collector.countStep(sliced.consumeUnseen()) } }
    return screen.receiveWhileQuiet(until: limit) { throttle, intended, received in
      collector.recordReceipt(throttle, intended: intended, at: received.nanoseconds)
    } endTurn: { start in
      clock.wait(until: start)
      collector.endTurn(
        from: start.nanoseconds, to: start.nanoseconds, costliest: nil, appearance: 0)
      watch?.endQuietTurn(at: start.nanoseconds)
      return collector.work < end
    }
  }

  // MARK: Limits

  /// Whether the run has exceeded a limit; ``problem`` then contains the reason and a remedy. Runs
  /// with measured costs have no limits, because only the command line starts them, in a separate
  /// process.
  private func isOverloaded() -> Bool {
    if problem != nil { return true }
    guard recorder == nil, let excess = limits.problem(of: self) else { return false }
    problem = excess
    return true
  }
}
