import ChatFeature
package import Composable
package import HostFeature
package import LiveEvents
package import RateLimiting
package import Throttling
package import ViewGraph

/// A host's screen: the store, its views, and the path of an event to them.
///
///     bytes -> line -> event -> throttle -> action -> reducers -> changed fields -> views -> frame
///
/// A connection performs the first three steps: `Ingest` splits bytes into lines, and `WireFormats`
/// converts a line into a `LiveEvent`. The other steps run here, on the room's lane and in the
/// room's time:
///
/// - **throttle**: The `PartThrottle` of the event's part passes the event on, holds it, or lets it
///   supersede another event.
/// - **action**: The throttle's output, either immediately or when a frame is due.
/// - **reducers**: The store changes the state in place and records which fields changed.
/// - **changed fields, dirty views**: Once per frame, the changed fields mark the views that read
///   them.
/// - **frame**: The dirty views are evaluated, parents first. The room and its monitors receive the
///   result.
///
/// The owner provides events and the time. The screen has no clock, socket, or thread of its own,
/// so the same code runs live, in replays, and in simulations. Not `Sendable`: it belongs to its
/// lane.
package final class HostScreen {
  package let store: Store<HostFeature.State, HostFeature.Action>
  package let views: ViewGraph
  private let grid: FrameGrid
  private let clock: any EvaluationClock
  /// Receives the result of an effect as an input. The owner must pass the input to
  /// ``perform(_:at:)`` or ``send(_:)``, so that it is logged and replayed like a host action.
  package var onEffectInput: ((EffectInput) -> Void)?
  // Exclusive access is not checked at run time, because the screen is never entered recursively
  // and the check would cost as much as most throttles.
  @exclusivity(unchecked) private var throttle: HostThrottle
  @exclusivity(unchecked) private var output = HostThrottle.Output()
  @exclusivity(unchecked) package private(set) var counts: EventCounts
  @exclusivity(unchecked) private(set) var ticker: Ticker
  /// The number of reduced actions when the last frame was drawn. Read from the store, because
  /// effects send their actions directly to it.
  private var drawnActions: UInt64 = 0
  /// Whether the state requires further reviews or ticks. Valid until the next action. Cached,
  /// because each event needs it, and reading it from the state would copy the state across a
  /// module boundary.
  private var isReviewing = false
  private var wantsTicks = false
  /// The time of the last frame. The next frame must be later.
  private var lastFrame = Instant(nanoseconds: -1)

  /// Whether each frame evaluates the affected views. If not, only ``evaluateViews()`` evaluates
  /// views, which then show only the newest value of each changed field.
  package var evaluatesViews = true

  /// Creates a screen and draws its first frame at `start`, so that a frame exists before the first
  /// event.
  ///
  /// - Parameters:
  ///   - lane: The lane on which effects run and send their actions.
  ///   - throttling: The policies for how long events may wait.
  ///   - chatHistory: The maximum number of messages that the chat keeps.
  ///   - analysesChat: Whether the chat is searched for bursts of duplicates. Ignored for a
  ///     restored screen, whose snapshot contains the setting.
  ///   - clock: Measures evaluations, or simulates their cost.
  ///   - snapshot: The screen to restore.
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
    throttle = HostThrottle(throttling, resuming: snapshot?.state)
    self.clock = clock
    // The first frame creates all views and therefore costs more than later frames. Its cost must
    // not widen the throttles' intervals, which would stay wide in a room whose time follows the
    // timestamps of its events.
    drawFrame(at: start, adapting: false)
    store.onEffectAction = { [unowned self] action in
      // An action that is not an input could not be replayed.
      guard let input = action.input else {
        preconditionFailure("\(ActionKind.name(of: action)) of an effect is not an input")
      }
      onEffectInput?(input)
    }
  }

  /// Whether effects are started. False during a replay, which includes the results of effects.
  package var startsEffects: Bool {
    get { store.startsEffects }
    set { store.startsEffects = newValue }
  }

  /// Event -> throttle -> action: receives an event, whose actions wait for ``reduce()``.
  package func receive(_ event: consuming LiveEvent, at now: Instant) {
    counts.received += 1
    let refused = refusedCount
    let timestamp = event.timestamp
    throttle.receive(event, at: now, into: &output)
    // A rejected event is not recorded, so it must not advance the time of the events.
    if refusedCount == refused { ticker.setTime(timestamp, at: now) }
  }

  /// The number of events rejected since the last ``reduce()``.
  package var refusedCount: Int {
    output.rejected.isEmpty ? 0 : output.rejected.values.reduce(0, +)
  }

  /// Whether ``reduce()`` has work other than counting held events.
  package var wantsReducing: Bool { !output.actions.isEmpty || !output.rejected.isEmpty }

  /// Returns the number of held events of one kind, which are neither applied nor coalesced yet.
  package func pending(of kind: ThrottledKind) -> Int { throttle.pending(of: kind) }

  /// Action -> reducers -> changed fields. Called immediately for actions that must not wait, and
  /// with each frame for other actions.
  package func reduce() {
    counts.applied += output.applied
    counts.coalesced += output.coalesced
    counts.pending = throttle.pending
    for (reason, count) in output.rejected { counts.refuse(reason, count) }
    if !output.actions.isEmpty {
      store.send(contentsOf: output.actions)
    }
    output.clear()
  }

  /// The time of the next frame, or `nil` while nothing changes and nothing is held.
  package var nextFrame: Instant? {
    let earliest = grid.frame(after: lastFrame)
    if store.actionCount != drawnActions || isReviewing { return earliest }
    let tick = wantsTicks ? ticker.next : nil
    let due = Instant.earlier(throttle.deadline, tick)
    return due.map { max(grid.frame(atOrAfter: $0), earliest) }
  }

  /// Changed fields -> dirty views -> frame: reduces the actions that are due, and evaluates the
  /// affected views.
  ///
  /// - Parameters:
  ///   - flush: Whether to also reduce actions that throttles hold and that are not due yet.
  ///   - adapting: Whether the cost of the frame may widen the intervals of throttles. Must be
  ///     false if `now` does not come from a real clock, because the same recording must always
  ///     give the same frames.
  package func drawFrame(at now: Instant, flush: Bool = false, adapting: Bool = true) {
    let start = clock.now
    if flush {
      throttle.flush(at: now, into: &output)
    } else {
      throttle.wake(at: now, into: &output)
    }
    reduce()
    updateDemands()
    if isReviewing {
      store.send(.chat(.reviewContinued))
      updateDemands()
    }
    if wantsTicks, let time = ticker.tick(at: now) {
      store.send(.ticked(at: time))
      throttle.follow(store.withState { $0.value.header })
      updateDemands()
    }
    drawnActions = store.actionCount
    lastFrame = now
    if evaluatesViews { evaluateViews() }
    if adapting { throttle.record(cost: .nanoseconds(Int64(clamping: clock.now - start))) }
  }

  /// Evaluates the views affected by the changes since the last evaluation.
  package func evaluateViews() {
    store.deliverChanges()
    views.evaluateFrame()
  }

  private func updateDemands() {
    (isReviewing, wantsTicks) = store.withState { ($0.value.isReviewing, $0.value.wantsTicks) }
  }

  /// Changes how long events may wait. Held events keep their deadline.
  package func apply(_ policies: ThrottlePolicies) { throttle.apply(policies) }

  /// Performs a host action that arrived as a call instead of a line. The action is reduced
  /// immediately, after all earlier events, and does not count as a received event. Returns false
  /// if the action was rejected.
  package func perform(_ event: LiveEvent, at now: Instant) -> Bool {
    reduce()
    throttle.receive(event, at: now, into: &output)
    let isTaken = output.rejected.isEmpty
    if isTaken {
      ticker.setTime(event.timestamp, at: now)
      // Subtracts only the action: held events that it released were already counted when they
      // arrived.
      output.applied -= 1
    }
    output.rejected.removeAll()
    reduce()
    return isTaken
  }

  /// Reduces an action that is not an event, such as an action of the room's own recorder. The
  /// action is reduced immediately, and the next frame shows it.
  package func send(_ action: HostFeature.Action) {
    output.actions.append(action)
    reduce()
  }

  /// Counts lines that were rejected before they became events.
  package func reject(_ reason: RejectionReason, _ count: Int) { counts.reject(reason, count) }

  /// Returns the time of the events at `now`, or `nil` before the first event.
  package func eventTime(at now: Instant) -> Timestamp? { ticker.time(at: now) }
}
