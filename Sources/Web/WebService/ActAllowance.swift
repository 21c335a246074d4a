import Locking
package import RateLimiting
import SystemSupport

/// Limits how fast one person acts: a burst of acts, then one act per interval (generic cell rate
/// algorithm, ITU-T I.371).
package struct ActAllowance: Sendable {
  package static let burst: Int64 = 20
  package static let interval = Interval.milliseconds(500)

  /// The time at which the whole burst is available again.
  private(set) var fullAt = Instant(nanoseconds: .min)

  package init() {}

  /// Counts an act and returns nil; if the limit is reached, returns the time to wait instead.
  package mutating func consume(at now: Instant) -> Interval? {
    let next = max(fullAt, now) + Self.interval
    let excess = (next - now).nanoseconds - (Self.interval * Self.burst).nanoseconds
    if excess > 0 { return .nanoseconds(excess) }
    fullAt = next
    return nil
  }
}

/// The allowances of all people. Callable from any thread.
final class ActAllowances: Sendable {
  private let allowances = Guarded<[String: ActAllowance]>([:])

  /// Counts an act of a person; returns the time to wait if the person's limit is reached. All
  /// bearers of the host's link share one allowance.
  func consume(_ access: GrantedAccess) -> Interval? {
    let now = Instant(nanoseconds: Int64(clamping: MonotonicClock.nanoseconds()))
    return allowances.withLock { allowances in
      // A key is the hash of a token that was valid. Replaced tokens leave unused keys.
      if allowances.count > 2 * InvitedPeople.limit {
        allowances = allowances.filter { $0.value.fullAt > now }
      }
      return allowances[access.person?.hash ?? "", default: ActAllowance()].consume(at: now)
    }
  }
}
