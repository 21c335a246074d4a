public import LiveEvents
package import RateLimiting

/// The throttle stage of one feature, which receives its events and outputs the actions that are
/// due.
///
/// Reads no clock: the caller passes the time. Each feature declares the throttling class of each
/// of its events beside its reducer. Before an event that is never dropped, all held events are
/// applied or superseded, so that order is kept across classes.
package protocol PartThrottle {
  associatedtype Event
  associatedtype Action

  init(_ policies: ThrottlePolicies)

  /// Receives one event, and moves it to its storage, because a copy would retain its texts.
  /// `timestamp` is the time at its source, and `now` is the time of the room.
  mutating func receive(
    _ event: consuming Event, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>)

  /// Outputs the actions that are due at `now`. Called once per frame, before the frame is drawn.
  mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>)

  /// Outputs the actions of all held events.
  mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>)

  /// Changes how long events may wait, starting with the next window of each throttle. Held events
  /// keep their deadline.
  mutating func apply(_ policies: ThrottlePolicies)

  /// Records the measured cost of a frame. If frames are expensive, events wait longer, within the
  /// bounds of the policies.
  mutating func record(cost: Interval)

  /// The time at which ``wake(at:into:)`` must be called to output held events, or `nil` if nothing
  /// is held.
  var deadline: Instant? { get }

  /// The number of held events, which are neither applied nor coalesced yet.
  var pending: Int { get }
}

/// Actions on their way to the reducer, with counts of their events.
///
/// Public and inlinable, so that client modules can specialise it. A generic `package` type would
/// look up its types at run time.
public struct ThrottleOutput<Action> {
  public var actions: [Action] = []
  /// The number of events whose content is in ``actions``.
  public var applied = 0
  /// The number of events that a newer value of the same key superseded.
  public var coalesced = 0
  /// The number of events that a feature rejected, by reason, for example because of too many names
  /// of controls.
  public var rejected: [RejectionReason: Int] = [:]

  @inlinable public init() {}

  /// Adds an action that contains the content of `events` events.
  @inlinable public mutating func apply(_ action: Action, events: Int = 1) {
    actions.append(action)
    applied += events
  }

  /// Removes all contents, but keeps the memory.
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
