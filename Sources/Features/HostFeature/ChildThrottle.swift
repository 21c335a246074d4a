import LiveEvents
import RateLimiting
import Throttling

/// The throttle of one part, with the memory for its output. Reuses the memory, so that an event
/// which is only held allocates nothing here.
struct ChildThrottle<Child: PartThrottle> {
  var throttle = Child(ThrottlePolicies())
  /// The number and deadline of held events. Cached, because each event needs the sums over all
  /// parts, whose throttles are in other modules and therefore expensive to query.
  private(set) var held = HeldEvents(count: 0, deadline: nil)
  private var output = ThrottleOutput<Child.Action>()
  private let embed: (Child.Action) -> HostFeature.Action

  init(_ embed: @escaping (Child.Action) -> HostFeature.Action) { self.embed = embed }

  mutating func receive(
    _ event: consuming Child.Event, timestamp: Timestamp, at now: Instant,
    into host: inout ThrottleOutput<HostFeature.Action>
  ) {
    throttle.receive(event, timestamp: timestamp, at: now, into: &output)
    handOver(to: &host)
  }

  mutating func perform(
    _ operation: ThrottleOperation, into host: inout ThrottleOutput<HostFeature.Action>
  ) {
    switch operation {
    case .apply(let policies): throttle.apply(policies)
    case .record(let cost): return throttle.record(cost: cost)
    // Each frame wakes all nine parts, of which usually only one or two hold events.
    case .wake where held.isNothing, .flush where held.isNothing: return
    case .wake(let now): throttle.wake(at: now, into: &output)
    case .flush(let now): throttle.flush(at: now, into: &output)
    }
    handOver(to: &host)
  }

  private mutating func handOver(to host: inout ThrottleOutput<HostFeature.Action>) {
    if !output.actions.isEmpty {
      for action in output.actions { host.actions.append(embed(action)) }
    }
    host.applied += output.applied
    host.coalesced += output.coalesced
    if !output.rejected.isEmpty {
      for (reason, count) in output.rejected { host.reject(reason, count) }
    }
    output.clear()
    held = HeldEvents(count: throttle.pending, deadline: throttle.deadline)
  }
}

/// An operation that the host performs on the throttles of all parts; see ``PartThrottle``.
enum ThrottleOperation {
  case apply(ThrottlePolicies)
  case record(cost: Interval)
  case wake(at: Instant)
  case flush(at: Instant)
}

/// The number of events that throttles hold, and when they will be output.
struct HeldEvents {
  var count: Int
  /// The time by which held events must be output, or `nil` if nothing is held.
  var deadline: Instant?

  var isNothing: Bool { count == 0 && deadline == nil }
}
