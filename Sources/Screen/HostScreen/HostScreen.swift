import ChatFeature
package import Composable
package import HostFeature
package import Intake
package import LiveEvents
package import RateLimiting
package import ViewGraph

/// A host's screen: the store, the views over it, and the road of an event to them, on one page.
///
///     bytes -> line -> event -> throttle -> action -> reducers -> changed fields -> dirty views -> frame
///
/// The first three steps are those of a connection: `Ingest` cuts bytes into lines, `WireFormats`
/// turns a line into a `LiveEvent`. What comes after happens here, on the room's lane, in the
/// room's time:
///
/// - **throttle**: the `Intake` of the event's part passes the event on, holds it, or lets it
///   supersede another.
/// - **action**: what comes out of the throttle, at once or when a frame is due.
/// - **reducers**: the store changes the state in place and notes which fields changed.
/// - **changed fields, dirty views**: once per frame, the fields mark the views that read them.
/// - **frame**: the dirty views are evaluated, parents first. Room and monitors see the result.
///
/// Its owner gives it events and time; it knows no clock of its own, no socket and no thread, so
/// that the same code runs live, replayed and simulated. Not `Sendable`: belongs to its lane.
package final class HostScreen {
  package let store: Store<HostFeature.State, HostFeature.Action>
  package let views: ViewGraph
  private let grid: FrameGrid
  private let clock: any EvaluationClock
  /// Takes what an effect brought back, as the input that it is. Its owner is to ``perform(_:at:)`` or
  /// ``send(_:)`` it, so that it is logged and repeated like an act of the host.
  package var onEffectInput: ((EffectInput) -> Void)?
  // Unchecked, since the screen is never entered while it works: the check would cost as much as
  // most throttles.
  @exclusivity(unchecked) private var intake: HostIntake
  @exclusivity(unchecked) private var output = HostIntake.Output()
  /// Where its events went.
  @exclusivity(unchecked) package private(set) var counts: EventCounts
  @exclusivity(unchecked) private(set) var ticker: Ticker
  /// How many actions were reduced when the last frame was drawn. Effects send their actions to the
  /// store themselves, so it is asked.
  private var drawnActions: UInt64 = 0
  /// What the state that the last frame shows asks for: it holds until the next action. Kept, because
  /// each event asks, and a question to the state copies it: the answer comes from another module.
  private var isReviewing = false
  private var wantsTicks = false
  /// Where the last frame was; the next one comes later.
  private var lastFrame = Instant(nanoseconds: -1)

  /// Whether each frame evaluates the views that it concerns. Otherwise that is left to ``evaluateViews()``, and of the
  /// changes before it the newest value of each field is shown.
  package var evaluatesViews = true

  /// Makes a screen and draws its first frame at `start`, so that there is one before the first
  /// event.
  ///
  /// - Parameters:
  ///   - lane: where effects run and bring their actions.
  ///   - tracking: whether the host's view depends on its children as wholes.
  ///   - throttling: how long events may wait.
  ///   - chatHistory: how many messages the chat keeps.
  ///   - analysesChat: whether the chat is searched for waves; a screen that is restored says so itself.
  ///   - clock: measures evaluations, or simulates what they cost.
  ///   - dependencies: what the effects of the features work with.
  ///   - snapshot: the screen to restore.
  package init(
    lane: any Lane, framesPerSecond: Int, tracking: ChildTracking = .ignored,
    throttling: ThrottlePolicies = ThrottlePolicies(), chatHistory: Int = 500,
    analysesChat: Bool = false, clock: any EvaluationClock, start: Instant = .origin,
    dependencies: Dependencies = .live(), restoring snapshot: ScreenSnapshot? = nil
  ) {
    var state = snapshot?.state ?? HostFeature.State()
    state.chatHistory = chatHistory
    if snapshot == nil, analysesChat { state.analysesChat = true }
    let store = Store(initialState: state, lane: lane, notification: .batched) {
      HostFeature(dependencies: dependencies)
    }
    store.setIgnored(tracking.ignoredFields)
    store.attributeChanges(true)
    self.store = store
    views = ViewGraph(
      HostView(), place: store.place, clock: clock, read: { [unowned store] in store.state })
    grid = FrameGrid(framesPerSecond: Int64(framesPerSecond))
    counts = snapshot?.counts ?? EventCounts()
    ticker = snapshot?.ticker ?? Ticker()
    intake = HostIntake(throttling, resuming: snapshot?.state)
    self.clock = clock
    // What it costs to make all views says nothing about later frames. A room that then follows the
    // time stamps of its events would keep the intervals that this frame widened.
    drawFrame(at: start, adapting: false)
    store.onEffectAction = { [unowned self] action in
      // What is not an input could not be repeated.
      guard let input = action.input else {
        preconditionFailure("\(ActionKind.name(of: action)) of an effect is not an input")
      }
      onEffectInput?(input)
    }
  }

  /// Whether effects are started. Not while what happened before is repeated, which includes what they
  /// brought back.
  package var startsEffects: Bool {
    get { store.startsEffects }
    set { store.startsEffects = newValue }
  }

  /// Event -> throttle -> action: takes one event. Its actions, if it has any, wait for
  /// ``reduce()``.
  package func receive(_ event: consuming LiveEvent, at now: Instant) {
    counts.received += 1
    let refused = refusedCount
    let timestamp = event.timestamp
    intake.receive(event, at: now, into: &output)
    // A refused event is not recorded, so it must not move the time of the events either.
    if refusedCount == refused { ticker.note(timestamp, at: now) }
  }

  /// How many events were refused since the last ``reduce()``.
  package var refusedCount: Int {
    output.rejected.isEmpty ? 0 : output.rejected.values.reduce(0, +)
  }

  /// Whether ``reduce()`` has something to do beyond counting events that are held.
  package var wantsReducing: Bool { !output.actions.isEmpty || !output.rejected.isEmpty }

  /// Events of one kind that are held: neither applied nor coalesced yet.
  package func pending(of kind: ThrottledKind) -> Int { intake.pending(of: kind) }

  /// Action -> reducers -> changed fields. At once for what must not wait, with the frame for the
  /// rest.
  package func reduce() {
    counts.applied += output.applied
    counts.coalesced += output.coalesced
    counts.pending = intake.pending
    for (reason, count) in output.rejected { counts.refuse(reason, count) }
    if !output.actions.isEmpty {
      store.send(contentsOf: output.actions)
    }
    output.clear()
  }

  /// When there is something to draw next; `nil` while nothing changes and nothing is held.
  package var nextFrame: Instant? {
    let earliest = grid.frame(after: lastFrame)
    if store.actionCount != drawnActions || isReviewing { return earliest }
    let tick = wantsTicks ? ticker.next : nil
    let due = Instant.earlier(intake.deadline, tick)
    return due.map { max(grid.frame(atOrAfter: $0), earliest) }
  }

  /// Changed fields -> dirty views -> frame: reduces what is due and evaluates the views that it
  /// concerns.
  ///
  /// - Parameters:
  ///   - flush: also reduces what throttles hold and is not due yet.
  ///   - adapting: whether the cost of the frame may widen the intervals of throttles. Not if `now`
  ///     is not the time in which it is measured: the same recording is to give the same frames.
  package func drawFrame(at now: Instant, flush: Bool = false, adapting: Bool = true) {
    let start = clock.now
    if flush { intake.flush(at: now, into: &output) } else { intake.wake(at: now, into: &output) }
    reduce()
    noteDemands()
    if isReviewing {
      store.send(.chat(.reviewContinued))
      noteDemands()
    }
    if wantsTicks, let time = ticker.tick(at: now) {
      store.send(.ticked(at: time))
      noteDemands()
    }
    drawnActions = store.actionCount
    lastFrame = now
    if evaluatesViews { evaluateViews() }
    if adapting { intake.note(cost: .nanoseconds(Int64(clamping: clock.now - start))) }
  }

  /// Evaluates the views that changes since the last time concern.
  package func evaluateViews() {
    store.deliverChanges()
    views.evaluateFrame()
  }

  private func noteDemands() {
    (isReviewing, wantsTicks) = store.withState { ($0.value.isReviewing, $0.value.wantsTicks) }
  }

  /// Changes how long events may wait; events that are held keep their deadline.
  package func apply(_ policies: ThrottlePolicies) { intake.apply(policies) }

  /// Takes an event that came by no line: an act of the host by a call. It is counted as actions
  /// only, and reduced at once, behind what came before it. `false` if it was refused.
  package func perform(_ event: LiveEvent, at now: Instant) -> Bool {
    reduce()
    intake.receive(event, at: now, into: &output)
    let isTaken = output.rejected.isEmpty
    if isTaken {
      ticker.note(event.timestamp, at: now)
      // The events that it took along were counted when they came.
      output.applied -= 1
    }
    output.rejected.removeAll()
    reduce()
    return isTaken
  }

  /// Reduces an action that is not an event, such as one of the room's own recorder, at once; the
  /// next frame shows it.
  package func send(_ action: HostFeature.Action) {
    output.actions.append(action)
    reduce()
  }

  /// Counts lines that were refused before they were events.
  package func reject(_ reason: RejectionReason, _ count: Int) { counts.reject(reason, count) }

  /// The time of the events at `now`; `nil` before the first one.
  package func eventTime(at now: Instant) -> Timestamp? { ticker.time(at: now) }
}
