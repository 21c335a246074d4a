import Composable
import RateLimiting
import ViewGraph

/// The store of a screen and its views in a run. Events are reduced as soon as the thread receives
/// them, and a frame is drawn at the next refresh.
final class StoreScreen<State: ObservableState, Action: Sendable, I: EventThrottle>: RunningScreen
where I.Action == Action {
  private let store: Store<State, Action>
  let views: ViewGraph
  let faults: [Fault]
  private let grid: FrameGrid
  private let elements: (Action) -> Int
  @exclusivity(unchecked) private var feed: EventFeed<AnyEventSource<I.Event>>
  @exclusivity(unchecked) private var throttle: I
  private var output: [Action] = []
  private var isSending = false
  /// Whether no feedback of the current action has been reduced yet.
  @exclusivity(unchecked) private var isFirst = false
  private var received = 0
  /// The number of reduced actions when the last frame was drawn.
  private var drawnActions: UInt64 = 0
  private var lastFrame = Instant(nanoseconds: -1)

  init<R: Reducer, Root: View>(
    _ root: Root, _ state: State, _ ignored: FieldSet?, _ world: SimulatedWorld,
    feed: consuming EventFeed<AnyEventSource<I.Event>>, faults: [Fault], throttle: I,
    elements: @escaping (Action) -> Int, reducer: () -> R
  ) where R.State == State, R.Action == Action, Root.State == State {
    let store = Store(
      initialState: state, lane: world.lane, notification: .batched, reducer: reducer)
    if let ignored { store.setIgnored(ignored) }
    store.attributeChanges(true)
    self.store = store
    self.feed = feed
    self.faults = faults
    self.throttle = throttle
    self.elements = elements
    grid = FrameGrid(framesPerSecond: Int64(world.framesPerSecond))
    views = ViewGraph(
      root, place: store.place, clock: world.evaluationClock,
      read: { [unowned store] in store.state })
    world.observeSizes { [unowned store] in store.look(&$0) }
    drawFrame(at: .origin)
  }

  var actions: ActionTrace { store.actionTrace }
  var actionCount: Int { Int(store.actionCount) }
  var nextArrival: VirtualTime? { feed.nextTime }
  var faultCounts: FaultCounts { feed.faultCounts }
  var eventTotals: EventTotals {
    EventTotals(received: received, coalesced: throttle.coalesced, pending: throttle.pending)
  }

  func onAction(_ body: @escaping (_ elements: Int) -> Void) {
    store.onAction { [elements, unowned self] in
      body(elements($0))
      isFirst = false
    }
  }

  var isFeedback: Bool { isSending && !isFirst }
  func onActionBegin(_ body: @escaping () -> Void) { store.onActionBegin(body) }
  func look(_ sizes: inout StateSizes) { store.look(&sizes) }

  func receive(
    until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void
  ) {
    feed.receive(until: time) { delivery, _ in
      received += 1
      throttle.receive(delivery.event, at: now, into: &output)
      note(1, delivery.intended)
    }
  }

  func reduce() {
    guard !output.isEmpty else { return }
    isSending = true
    store.send(
      contentsOf: output.lazy.map { [unowned self] action in
        isFirst = true
        return action
      })
    isSending = false
    output.removeAll(keepingCapacity: true)
  }

  var nextFrame: Instant? {
    let earliest = grid.frame(after: lastFrame)
    if store.actionCount != drawnActions { return earliest }
    return throttle.deadline.map { max(grid.frame(atOrAfter: $0), earliest) }
  }

  func drawFrame(at now: Instant) {
    throttle.wake(at: now, into: &output)
    reduce()
    drawnActions = store.actionCount
    lastFrame = now
    store.deliverChanges()
    views.evaluateFrame()
  }

  func pending(_ throttle: Int) -> Int { self.throttle.pending }
  func cancelEffects() { store.cancelEffects() }
}
