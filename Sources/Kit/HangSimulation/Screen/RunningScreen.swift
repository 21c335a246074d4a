public import Composable
public import RateLimiting
public import ViewGraph

/// A screen in a run, as the simulated thread sees it.
///
/// Most screens are described by a ``SimulatedScreen``. Who has a road from events to frames of his own, with
/// throttles, say, that are shared with the real program, makes it conform to this.
///
/// Each turn of the thread calls ``receive(until:at:noting:)`` and ``reduce()``, and ``drawFrame(at:)`` if
/// there is something to draw. What this costs is spent on the world's clock meanwhile.
public protocol RunningScreen: AnyObject {
  /// The views. Their clock must be ``SimulatedWorld/evaluationClock``; the first frame is drawn before the
  /// screen is handed over.
  var views: ViewGraph { get }

  /// The trace of the store; see ``Store/actionTrace``.
  var actions: ActionTrace { get }

  /// Calls `body` after each action of the store, of effects as well, with the number of elements that
  /// the action carries; see ``Store/onAction(_:)``.
  func onAction(_ body: @escaping (_ elements: Int) -> Void)

  /// Called once, in the turn that drew the first frame.
  func begin()

  /// When the next event arrives; `nil` after the last one.
  var nextArrival: VirtualTime? { get }

  /// Takes all events that have arrived.
  ///
  /// - Parameter note: to be called for each with when it should have arrived, and with the number of its
  ///   throttle, from 1 on; 0 if it never waits.
  func receive(
    until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void)

  /// Reduces what became of the events and need not wait for a frame.
  func reduce()

  /// When there is something to draw; `nil` while nothing changes and nothing is held.
  var nextFrame: Instant? { get }

  /// Reduces what is due, and evaluates the views.
  func drawFrame(at now: Instant)

  /// How many events the throttle of this number holds.
  func pending(_ throttle: Int) -> Int

  /// Where the events went.
  var eventTotals: EventTotals { get }

  /// What faults did to the events.
  var faultCounts: FaultCounts { get }

  /// How many actions were reduced.
  var actionCount: Int { get }

  /// Ends all effects, at the end of the run.
  func cancelEffects()
}

extension RunningScreen {
  /// Does nothing.
  public func begin() {}
}
