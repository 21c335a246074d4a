public import Composable
public import RateLimiting
public import ViewGraph

/// A screen in a run, as driven by the simulated thread.
///
/// Most screens are described by a ``SimulatedScreen``. A screen with its own path from events to
/// frames, for example with throttles shared with the real program, can conform to this protocol
/// instead.
///
/// Each turn of the thread calls ``receive(until:at:noting:)`` and ``reduce()``, and also
/// ``drawFrame(at:)`` if there is something to draw. The costs of these calls advance the world's
/// clock.
public protocol RunningScreen: AnyObject {
  /// The view graph, whose clock must be ``SimulatedWorld/evaluationClock`` and whose first frame
  /// must be drawn before the run receives the screen.
  var views: ViewGraph { get }

  /// The action trace of the store; see ``Store/actionTrace``.
  var actions: ActionTrace { get }

  /// Calls `body` after each action of the store, including actions of effects, with the number of
  /// elements that the action carries; see ``Store/onAction(_:)``.
  func onAction(_ body: @escaping (_ elements: Int) -> Void)

  /// Calls `body` before each action of the store is reduced, to measure its work; see
  /// ``Store/onActionBegin(_:)``. By default, an action begins where the previous action ended.
  func onActionBegin(_ body: @escaping () -> Void)

  /// Reads the sizes of the collections in the state; see ``Store/look(_:)``. By default, there are
  /// no collections, and no growth is detected.
  func look(_ sizes: inout StateSizes)

  /// Whether the action that was just reduced followed another action by feedback: an effect sent
  /// it immediately. False by default.
  var isFeedback: Bool { get }

  /// Begins the run. Called once, in the turn that drew the first frame. Does nothing by default.
  func begin()

  /// The arrival time of the next event; `nil` after the last one.
  var nextArrival: VirtualTime? { get }

  /// Receives all events that have arrived.
  ///
  /// - Parameter note: Must be called for each event, with its intended arrival time and the number
  ///   of its throttle, starting at 1; 0 if the event never waits.
  func receive(
    until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void)

  /// Receives events in turns that do nothing else, until there is something to reduce or no event
  /// arrives up to `limit`.
  ///
  /// Implement this method for a screen whose throttles hold most events. The default
  /// implementation runs one turn, and assumes that there is something to reduce.
  ///
  /// - Parameters:
  ///   - note: Like the parameter of ``receive(until:at:noting:)``, with the time at which the
  ///     event is received.
  ///   - endTurn: Must be called at the end of each turn without anything to reduce. Returns false
  ///     if no further turn may follow now.
  /// - Returns: The start of the turn that has something to reduce and has not ended; `nil` if
  ///   there is none.
  func receiveWhileQuiet(
    until limit: VirtualTime,
    noting note: (_ throttle: Int, _ intended: VirtualTime, _ taken: VirtualTime) -> Void,
    endTurn: (_ start: VirtualTime) -> Bool
  ) -> VirtualTime?

  /// Reduces the actions of received events that need not wait for a frame.
  func reduce()

  /// The time of the next frame; `nil` while nothing changes and no events are held.
  var nextFrame: Instant? { get }

  /// Reduces the actions that are due, and evaluates the views.
  func drawFrame(at now: Instant)

  /// Returns how many events the throttle of this number holds.
  func pending(_ throttle: Int) -> Int

  /// The counts of received, coalesced, and pending events.
  var eventTotals: EventTotals { get }

  /// The effects of the faults on the events.
  var faultCounts: FaultCounts { get }

  /// The faults with their times, for charts; none by default.
  var faults: [Fault] { get }

  /// The number of reduced actions.
  var actionCount: Int { get }

  /// Cancels all effects at the end of the run.
  func cancelEffects()
}

extension RunningScreen {
  public var faults: [Fault] { [] }

  public func begin() {}

  public func onActionBegin(_ body: @escaping () -> Void) {}

  public var isFeedback: Bool { false }

  public func look(_ sizes: inout StateSizes) {}

  public func receiveWhileQuiet(
    until limit: VirtualTime,
    noting note: (_ throttle: Int, _ intended: VirtualTime, _ taken: VirtualTime) -> Void,
    endTurn: (_ start: VirtualTime) -> Bool
  ) -> VirtualTime? {
    guard let time = nextArrival, !(limit < time) else { return nil }
    receive(until: time, at: Instant(nanoseconds: time.nanoseconds)) { throttle, intended in
      note(throttle, intended, time)
    }
    return time
  }
}
