package import RateLimiting

/// The times at which frames may be drawn: 60 per second of a room's time.
package struct FrameGrid: Sendable {
  /// The time between frames in nanoseconds.
  package let interval: Int64

  package init(framesPerSecond: Int64 = 60) {
    precondition(framesPerSecond > 0)
    interval = 1_000_000_000 / framesPerSecond
  }

  /// Returns the first frame at or after `instant`.
  package func frame(atOrAfter instant: Instant) -> Instant {
    let count = (instant.nanoseconds + interval - 1) / interval
    return Instant(nanoseconds: count * interval)
  }

  /// Returns the first frame after `instant`.
  package func frame(after instant: Instant) -> Instant {
    Instant(nanoseconds: (instant.nanoseconds / interval + 1) * interval)
  }
}
