import Composable
import RateLimiting
import Suggestions
import ViewGraph

/// One variant of the screen on one device, from the first event to the end of the scenario.
///
/// A single thread draws the screen. Events gather during a turn; the next turn takes all that have
/// arrived, reduces them, and evaluates the dirty views if a frame is due. The turn lasts as long
/// as this takes on the device.
package final class SimulatedRun {
  let device: Device
  let variant: SimulationPlan.Variant
  private let duration: VirtualTime
  package let screen: any RunningScreen
  private let clock: SimulatedClock
  private let world: SimulatedWorld
  @exclusivity(unchecked) private var collector: RunCollector
  private let trace: TraceRecorder?
  private let recorder: CostRecorder?
  private let grid: FrameGrid
  /// When the first effect went on that has something for the thread; `nil` if none has.
  @exclusivity(unchecked) private var resumedAt: VirtualTime?
  /// The screen has nothing to draw before this refresh and need not be asked until then.
  @exclusivity(unchecked) private var nextRefresh = VirtualTime.zero

  init(
    _ plan: SimulationPlan, _ device: Device, _ variant: SimulationPlan.Variant,
    trace: TraceRecorder? = nil, recorder: CostRecorder? = nil
  ) throws(SimulationProblem) {
    self.device = device
    self.variant = variant
    self.trace = trace
    duration = plan.duration
    self.recorder = recorder
    clock = SimulatedClock(costs: CostTable(device, variant.costs), recorder: recorder)
    let rate = variant.framesPerSecond ?? device.profile.refreshRate
    grid = FrameGrid(framesPerSecond: Int64(rate))
    collector = RunCollector(
      duration: duration, framesPerSecond: rate, bounds: plan.bounds, views: variant.views)
    world = SimulatedWorld(
      device, seed: plan.seed, duration: plan.duration, framesPerSecond: rate, clock: clock,
      trace: trace)
    trace?.begin("\(device.name), \(variant.name)")
    if let trace { clock.onAppearance = { trace.appearance($0, $1) } }
    // Draws the first frame: that is the first turn.
    screen = variant.make(world)
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
    screen.onAction { [clock, trace, recorder, actions = screen.actions] elements in
      let (kind, start) = (kinds.number(of: actions), clock.time)
      recorder?.endAction(kinds.name(kind), elements: elements)
      clock.reduce(kind, elements: elements)
      trace?.action(kinds.name(kind), start, clock.time)
    }
    let others = screen.views.statistics.keys.filter { !variant.views.contains($0) }
    for name in variant.views + others.sorted() {
      for record in screen.views.log.records(of: name) { note(record) }
    }
    screen.views.onEvaluation = { [unowned self] in note($0) }
    screen.begin()
    endTurn(from: 0, isFrame: true)
    collector.noteShown(by: screen, at: clock.time)
  }

  private func note(_ record: EvaluationRecord) {
    collector.note(record)
    trace?.evaluation(record)
  }

  deinit {
    // What effects still wait for never comes.
    screen.cancelEffects()
    runEffects()
  }

  /// Progress of the run.
  package var time: VirtualTime { min(VirtualTime(nanoseconds: clock.time), duration) }

  /// Does about this much work, in units of a few hundred nanoseconds (one held event).
  ///
  /// - Returns: Whether there is more to do.
  package func advance(work: Int) -> Bool {
    let end = collector.work + work
    while collector.work < end { guard turn(until: end) else { return false } }
    return true
  }

  /// One turn of the thread and the quiet ones before it, or one step of what goes on beside it.
  ///
  /// - Parameter end: the work after which no further turn is to begin.
  private func turn(until end: Int) -> Bool {
    let wake = wake()
    if let next = world.nextTime, next <= duration, isEffectNext(next, before: wake) {
      world.resumeNext()
      collector.noteStep()
      // Its thread takes it up when it is free.
      if world.wantsThread { resumedAt = resumedAt ?? next }
      return true
    }
    guard let wake, !(duration < wake) else { return false }
    let start: Int64
    if let limit = quietLimit(from: wake) {
      guard let busy = receiveWhileQuiet(until: limit, end) else { return true }
      clock.wait(until: busy)
      start = clock.time
    } else {
      clock.wait(until: wake)
      start = clock.time
      receive(until: start)
    }
    recorder?.beginTurn()
    screen.reduce()
    runEffects()
    let isFrame = isFrameDue
    if isFrame { drawFrame() }
    runEffects()
    if isFrame {
      recorder?.endFrame(simulated: clock.time - start)
      collector.noteShown(by: screen, at: clock.time)
    }
    endTurn(from: start, isFrame: isFrame)
    return true
  }

  /// Whether an effect goes on before the thread has something to do, or while it is still busy.
  private func isEffectNext(_ next: VirtualTime, before wake: VirtualTime?) -> Bool {
    if next.nanoseconds <= clock.time { return true }
    return !world.wantsThread && wake.map { next <= $0 } ?? true
  }

  /// Runs what effects have ready for the thread, and what they begin.
  private func runEffects() {
    resumedAt = nil
    world.runEffects()
  }

  /// When the thread has something to do next: an event, a frame, or what an effect has for it.
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
    collector.endTurn(
      from: start, to: clock.time, costliest: clock.takeCostliestAction(),
      appearance: clock.takeAppearanceCost())
    trace?.turn(start, clock.time, isFrame: isFrame)
  }

  private func receive(until time: Int64) {
    let now = Instant(nanoseconds: time)
    // Nothing is processed after the end, even if a turn that began earlier is still running.
    screen.receive(until: min(VirtualTime(nanoseconds: time), duration), at: now) {
      throttle, intended in
      collector.noteReceived(throttle, intended: intended, at: time)
    }
  }

  /// Until when turns have nothing to do but to take in events, if the one that begins at `wake` is of that sort; `nil`
  /// if not. No frame is due before the next refresh, and no effect goes on.
  private func quietLimit(from wake: VirtualTime) -> VirtualTime? {
    guard clock.time <= wake.nanoseconds, wake < nextRefresh, resumedAt == nil, trace == nil,
      recorder == nil, !world.wantsThread
    else { return nil }
    var limit = min(nextRefresh.nanoseconds - 1, duration.nanoseconds)
    if let next = world.nextTime { limit = min(limit, next.nanoseconds - 1) }
    return limit < wake.nanoseconds ? nil : VirtualTime(nanoseconds: limit)
  }

  private func receiveWhileQuiet(until limit: VirtualTime, _ end: Int) -> VirtualTime? {
    screen.receiveWhileQuiet(until: limit) { throttle, intended, taken in
      collector.noteReceived(throttle, intended: intended, at: taken.nanoseconds)
    } endTurn: { start in
      clock.wait(until: start)
      collector.endTurn(
        from: start.nanoseconds, to: start.nanoseconds, costliest: nil, appearance: 0)
      return collector.work < end
    }
  }

  // MARK: Result

  /// The result; complete once the run has ended.
  package func report() -> RunReport {
    collector.report(
      device: device, variant: variant.name, events: screen.eventTotals,
      actions: screen.actionCount, frames: Int(screen.views.frames),
      statistics: screen.views.statistics, faults: screen.faultCounts, effects: world.reports,
      constants: DeviceProfile.Costs.constants(
        views: Set(variant.views).union(screen.views.statistics.keys).sorted(),
        actions: ActionKinds(screen.actions).names))
  }
}
