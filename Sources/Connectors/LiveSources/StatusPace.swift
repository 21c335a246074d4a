package import RateLimiting

/// Limits status reports to one per ``interval``. Without the limit, peers could trigger reports at
/// any rate.
package struct StatusPace: Sendable {
  package static let interval = Interval.seconds(10)

  /// The time at which a delayed report is due, or `nil` if no report is delayed.
  package private(set) var deadline: Instant?
  private var last: Instant?

  package init() {}

  /// Returns whether the status may be reported now. Otherwise the report is due at ``deadline``.
  package mutating func mayReport(at now: Instant) -> Bool {
    if let last, now - last < Self.interval {
      deadline = last + Self.interval
      return false
    }
    (last, deadline) = (now, nil)
    return true
  }

  /// Returns whether a delayed report is due.
  package func isDue(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }

  /// Releases a delayed report early, when the source ends. Returns whether one was delayed.
  package mutating func release() -> Bool {
    defer { (last, deadline) = (nil, nil) }
    return deadline != nil
  }

  /// Discards a delayed report.
  package mutating func cancel() { deadline = nil }
}
