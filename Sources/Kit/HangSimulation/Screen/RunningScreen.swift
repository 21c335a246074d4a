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

  /// Calls `body` before each action of the store is reduced, so that its work can be measured; see
  /// ``Store/onActionBegin(_:)``. By default the work of an action begins where the one before it ended.
  func onActionBegin(_ body: @escaping () -> Void)

  /// Reads the sizes of the collections in the state; see ``Store/look(_:)``. By default there are none, and no work is
  /// seen to grow.
  func look(_ sizes: inout StateSizes)

  /// Whether the action that was just reduced followed another one by feedback: an effect sent it at once.
  var isFeedback: Bool { get }

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

  /// Takes events as they arrive, for turns of the thread in which nothing else is to be done: until there is
  /// something to reduce, or no event arrives until `limit`.
  ///
  /// For screens whose throttles hold most events. The default takes one turn, and assumes that there is.
  ///
  /// - Parameters:
  ///   - note: as for ``receive(until:at:noting:)``, with the time at which the event is taken.
  ///   - endTurn: to be called at the end of each turn in which there was nothing to reduce; false if no more are to
  ///     follow now.
  /// - Returns: when the turn began in which there is something to reduce, and which is not over; `nil` if there is
  ///   none.
  func receiveWhileQuiet(
    until limit: VirtualTime,
    noting note: (_ throttle: Int, _ intended: VirtualTime, _ taken: VirtualTime) -> Void,
    endTurn: (_ start: VirtualTime) -> Bool
  ) -> VirtualTime?

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

  /// When which faults are at work, for charts.
  var faults: [Fault] { get }

  /// How many actions were reduced.
  var actionCount: Int { get }

  /// Ends all effects, at the end of the run.
  func cancelEffects()
}

extension RunningScreen {
  /// None.
  public var faults: [Fault] { [] }

  /// Does nothing.
  public func begin() {}

  /// Does nothing.
  public func onActionBegin(_ body: @escaping () -> Void) {}

  /// Takes no action for feedback.
  public var isFeedback: Bool { false }

  /// Finds none.
  public func look(_ sizes: inout StateSizes) {}

  /// Takes the events of one turn.
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
