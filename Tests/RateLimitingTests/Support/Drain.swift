import RateLimiting
import Testing

/// Wakes a limiter, or several combined in a feature, at each deadline up to a time, like a
/// punctual owner. If a limiter stays due after it was woken, records an issue instead of looping
/// forever.
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
