package import RateLimiting

/// When a source reports its status again if others can change it at any pace: at most once per ``interval``.
package struct StatusPace: Sendable {
  package static let interval = Interval.seconds(10)

  /// When a report that was held back is due; `nil` if there is none.
  package private(set) var deadline: Instant?
  private var last: Instant?

  package init() {}

  /// Whether the status may be reported now. If not, it is due at ``deadline``.
  package mutating func mayReport(at now: Instant) -> Bool {
    if let last, now - last < Self.interval {
      deadline = last + Self.interval
      return false
    }
    (last, deadline) = (now, nil)
    return true
  }

  /// Whether a report that was held back is due.
  package func isDue(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }

  /// Lets a report that was held back be made at once, since the source ends. `false` if there is none.
  package mutating func release() -> Bool {
    defer { (last, deadline) = (nil, nil) }
    return deadline != nil
  }

  /// Forgets a report that was held back.
  package mutating func cancel() { deadline = nil }
}
