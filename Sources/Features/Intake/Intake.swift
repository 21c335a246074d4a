public import LiveEvents
package import RateLimiting

/// The throttle stage of one feature: takes its events, gives the actions that are due.
///
/// A pure value: time is passed in. Each feature declares beside its reducer which class of
/// throttling each of its events has. Events that are held are applied or superseded before an
/// event that is never dropped, so that order holds across classes.
package protocol Intake {
  /// The events of the part, and of no other.
  associatedtype Event
  associatedtype Action

  init(_ policies: ThrottlePolicies)

  /// Takes one event, which is moved to where it is kept: a copy would count references to its texts. `timestamp` is
  /// when it happened at its source, `now` the time of the room.
  mutating func receive(
    _ event: consuming Event, timestamp: Timestamp, at now: Instant,
    into output: inout IntakeOutput<Action>)

  /// Gives what is due at `now`; called once per frame, before the frame is drawn.
  mutating func wake(at now: Instant, into output: inout IntakeOutput<Action>)

  /// Gives everything that is held.
  mutating func flush(at now: Instant, into output: inout IntakeOutput<Action>)

  /// Changes how long its events may wait, from the next window of each throttle on. Events that
  /// are held keep the deadline that they were promised.
  mutating func apply(_ policies: ThrottlePolicies)

  /// Takes the measured cost of a frame. If frames are expensive, events wait longer, within the
  /// bounds of the policies.
  mutating func note(cost: Interval)

  /// When ``wake(at:into:)`` has something to give at the latest; `nil` if nothing is held.
  var deadline: Instant? { get }

  /// Events that are held: neither applied nor coalesced yet.
  var pending: Int { get }
}

/// Actions on their way to the reducer, and counts of the events they were made of.
///
/// Public and inlinable, so that it is specialised where it is used; what is generic and `package`
/// is not, and looks its types up at run time.
public struct IntakeOutput<Action> {
  public var actions: [Action] = []
  /// Events whose content is in ``actions``.
  public var applied = 0
  /// Events that a newer value of the same key superseded.
  public var coalesced = 0
  /// Events that a feature refused (too many names of controls, say), by reason.
  public var rejected: [RejectionReason: Int] = [:]

  @inlinable public init() {}

  /// Adds an action that carries the content of `events` events.
  @inlinable public mutating func apply(_ action: Action, events: Int = 1) {
    actions.append(action)
    applied += events
  }

  /// Forgets everything, and keeps the memory.
  @inlinable public mutating func clear() {
    if !actions.isEmpty { actions.removeAll(keepingCapacity: true) }
    applied = 0
    coalesced = 0
    if !rejected.isEmpty { rejected = [:] }
  }

  @inlinable public mutating func coalesce(_ events: Int) { coalesced += events }

  @inlinable public mutating func reject(_ reason: RejectionReason, _ events: Int = 1) {
    rejected[reason, default: 0] += events
  }
}
