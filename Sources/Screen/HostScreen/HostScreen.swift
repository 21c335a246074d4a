package import Composable
package import HostFeature
package import Intake
package import LiveEvents
package import RateLimiting
package import ViewGraph

/// A host's screen: the store, the views over it, and the road of its events.
///
/// Whoever owns it gives it events and time; it asks for neither. Not `Sendable`: belongs to its lane.
package final class HostScreen {
  package let store: Store<HostFeature.State, HostFeature.Action>
  package let views: ViewGraph
  private var pipeline: Pipeline

  /// Makes a screen and draws its first frame at `start`, so that there is one before the first event.
  ///
  /// - Parameters:
  ///   - lane: where effects run and bring their actions.
  ///   - tracking: whether the host's view depends on its children as wholes.
  ///   - intake: the throttle stage.
  ///   - chatHistory: how many messages the chat keeps.
  ///   - clock: measures evaluations, or pretends to.
  ///   - snapshot: of the screen that this one is to be.
  package init(
    lane: any Lane, framesPerSecond: Int, tracking: ChildTracking = .ignored,
    intake: HostIntake = HostIntake(), chatHistory: Int = 500, clock: any ScreenClock,
    start: Instant = .origin, restoring snapshot: ScreenSnapshot? = nil
  ) {
    var state = snapshot?.state ?? HostFeature.State()
    state.chatHistory = chatHistory
    let store = Store(initialState: state, lane: lane, notification: .batched) { HostFeature() }
    store.setIgnored(tracking.ignoredFields)
    store.attributeChanges(true)
    self.store = store
    views = ViewGraph(
      HostView(), place: store.place, clock: clock, read: { [unowned store] in store.state })
    pipeline = Pipeline(
      store: store, screen: views, grid: FrameGrid(framesPerSecond: Int64(framesPerSecond)),
      intake: intake, clock: clock, counts: snapshot?.counts ?? EventCounts(),
      ticker: snapshot?.ticker ?? Ticker())
    pipeline.drawFrame(at: start)
  }

  var ticker: Ticker { pipeline.ticker }

  /// Where its events went.
  package var counts: EventCounts { pipeline.counts }

  /// Takes one event. Its actions, if it has some at once, wait for ``reduce()``.
  package func receive(_ event: LiveEvent, at now: Instant) { pipeline.receive(event, at: now) }

  /// How many events were refused since the last ``reduce()``.
  package var refusedCount: Int { pipeline.refusedCount }

  /// Counts lines that were refused before they were events.
  package func reject(_ reason: RejectionReason, _ count: Int) { pipeline.reject(reason, count) }

  /// Reduces what must not wait for the frame.
  package func reduce() { pipeline.reduce() }

  /// When there is something to draw next; `nil` while nothing changes and nothing is held.
  package var nextFrame: Instant? { pipeline.nextFrame }

  /// Draws a frame: what is due is reduced, and the views that it concerns are evaluated.
  ///
  /// - Parameters:
  ///   - flush: also what is held and not due yet.
  ///   - adapting: whether the cost of the frame may widen the intervals of throttles. Not if `now` is
  ///     not the time in which it is measured: the same recording is to give the same frames.
  package func drawFrame(at now: Instant, flush: Bool = false, adapting: Bool = true) {
    pipeline.drawFrame(at: now, flush: flush, adapting: adapting)
  }

  /// Takes over how long events may wait; what is held keeps its deadline.
  package func apply(_ policies: ThrottlePolicies) { pipeline.apply(policies) }

  /// Takes something that the host did by a call, at once. It counts as actions only; `false` if it was
  /// refused.
  package func perform(_ event: LiveEvent, at now: Instant) -> Bool {
    pipeline.perform(event, at: now)
  }

  /// The time of the events at `now`; `nil` before the first one.
  package func eventTime(at now: Instant) -> Timestamp? { pipeline.eventTime(at: now) }

  /// Reduces an action that is no event, such as one of the room's own recorder, at once; the next frame
  /// shows it.
  package func send(_ action: HostFeature.Action) { pipeline.send(action) }
}
