import RateLimiting
import Testing

/// Wakes a machine, or several joined in a feature, at each deadline up to a time, as a punctual
/// owner would. A machine that is not satisfied by being woken is an issue, not an endless loop.
func wakePunctually<Owner>(
  _ owner: inout Owner, until end: Instant = Instant(nanoseconds: .max),
  deadline: (Owner) -> Instant?, wake: (inout Owner, Instant) -> Void
) {
  for _ in 0..<1_000 {
    guard let next = deadline(owner), next <= end else { return }
    wake(&owner, next)
  }
  Issue.record("woken a thousand times, and still due at \(deadline(owner) as Any)")
}
