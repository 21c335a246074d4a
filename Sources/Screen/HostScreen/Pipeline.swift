import Composable
import HostFeature
import Intake
import LiveEvents
import RateLimiting
import ViewGraph

/// The road of an event through a room, on one page.
///
///     bytes -> frame -> event -> throttle -> action -> reducers -> changed fields -> dirty views -> frame -> subscribers
///
/// The first three steps are those of a connection: `Ingest` cuts bytes into lines, `WireFormats` turns
/// a line into a `LiveEvent`. What comes after happens here, on the room's lane, in the room's time:
///
/// - **throttle**: the feature's `Intake` passes the event on, holds it, or lets it supersede another.
/// - **action**: what comes out of the throttle, at once or when a frame is due.
/// - **reducers**: the store changes the state in place and notes which fields changed.
/// - **changed fields, dirty views**: once per frame, the fields mark the views that read them.
/// - **frame**: the dirty views are evaluated, parents first. Room and monitors see the result.
///
/// Knows no clock, no socket and no thread: the same code runs live, replayed and simulated. Cannot be
/// copied, since a copy to ask for the next frame would cost more than the answer.
struct Pipeline: ~Copyable {
  private let store: Store<HostFeature.State, HostFeature.Action>
  private let screen: ViewGraph
  private let grid: FrameGrid
  private let clock: any ScreenClock
  private var intake: HostIntake
  private var output = IntakeOutput<HostFeature.Action>()
  private(set) var counts: EventCounts
  /// How many actions were reduced when the last frame was drawn. Those of effects come to the store by
  /// themselves, so it is asked.
  private var drawnActions: UInt64 = 0
  /// Where the last frame was; the next one comes later.
  private var lastFrame = Instant(nanoseconds: -1)
  private(set) var ticker: Ticker

  init(
    store: Store<HostFeature.State, HostFeature.Action>, screen: ViewGraph, grid: FrameGrid,
    intake: HostIntake, clock: any ScreenClock, counts: EventCounts, ticker: Ticker
  ) {
    self.counts = counts
    self.ticker = ticker
    self.intake = intake
    self.store = store
    self.screen = screen
    self.grid = grid
    self.clock = clock
  }

  /// Event -> throttle -> action: takes one event. Its actions, if it has some, wait for ``reduce()``.
  mutating func receive(_ event: LiveEvent, at now: Instant) {
    counts.received += 1
    let refused = refusedCount
    intake.receive(event, at: now, into: &output)
    // What is refused is not recorded either, so that it must not move the time of the events.
    if refusedCount == refused { ticker.note(event.timestamp, at: now) }
  }

  /// How many events were refused since the last ``reduce()``.
  var refusedCount: Int { output.rejected.isEmpty ? 0 : output.rejected.values.reduce(0, +) }

  /// Action -> reducers -> changed fields. At once for what must not wait, with the frame for the rest.
  mutating func reduce() {
    counts.applied += output.applied
    counts.coalesced += output.coalesced
    counts.pending = intake.pending
    for (reason, count) in output.rejected { counts.refuse(reason, count) }
    if !output.actions.isEmpty {
      store.send(contentsOf: output.actions)
      if clock.countsActions { output.actions.forEach(clock.didReduce) }
    }
    output.clear()
  }

  /// When there is something to draw next; `nil` while nothing changes and nothing is held.
  var nextFrame: Instant? {
    let earliest = grid.frame(after: lastFrame)
    if store.actionCount != drawnActions { return earliest }
    let tick = store.state.wantsTicks ? ticker.next : nil
    let due = Instant.earlier(intake.deadline, tick)
    return due.map { max(grid.frame(atOrAfter: $0), earliest) }
  }

  /// Changed fields -> dirty views -> frame. With `flush`, what throttles hold is applied first,
  /// whether it is due or not.
  mutating func drawFrame(at now: Instant, flush: Bool = false, adapting: Bool = true) {
    let start = clock.now
    if flush { intake.flush(at: now, into: &output) } else { intake.wake(at: now, into: &output) }
    reduce()
    if store.state.wantsTicks, let time = ticker.tick(at: now) { tick(time) }
    drawnActions = store.actionCount
    lastFrame = now
    store.deliverChanges()
    screen.evaluateFrame()
    if adapting { intake.note(cost: .nanoseconds(Int64(clamping: clock.now - start))) }
  }

  /// Takes over how long events may wait.
  mutating func apply(_ policies: ThrottlePolicies) { intake.apply(policies) }

  /// Takes an event that came by no line: something that the host did by a call. It is counted as
  /// actions only, and reduced at once, behind what came before it. `false` if it was refused.
  mutating func perform(_ event: LiveEvent, at now: Instant) -> Bool {
    reduce()
    intake.receive(event, at: now, into: &output)
    let isTaken = output.rejected.isEmpty
    if isTaken { ticker.note(event.timestamp, at: now) }
    // What it brought on its way was counted when it came.
    if isTaken { output.applied -= 1 }
    output.rejected.removeAll()
    reduce()
    return isTaken
  }

  /// The time of the events at `now`; `nil` before the first one.
  func eventTime(at now: Instant) -> Timestamp? { ticker.time(at: now) }

  /// Reduces an action that is no event, such as one of the room's own recorder.
  mutating func send(_ action: HostFeature.Action) {
    output.actions.append(action)
    reduce()
  }

  private func tick(_ time: Timestamp) {
    store.send(.ticked(at: time))
    if clock.countsActions { clock.didReduce(.ticked(at: time)) }
  }

  /// Counts lines that were refused before they were events.
  mutating func reject(_ reason: RejectionReason, _ count: Int) { counts.reject(reason, count) }
}
