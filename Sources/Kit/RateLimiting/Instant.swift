/// A point in time: nanoseconds since an origin that the caller chooses.
///
/// The limiters of this library do not read a clock. A caller passes monotonic time, virtual time
/// or the time stamps of events, and uses the same kind throughout the life of a limiter. Time may
/// go backwards (time stamps arrive out of order): a limiter then behaves as if no time had passed,
/// and whatever it holds keeps its deadline.
public struct Instant: Hashable, Comparable, Sendable, Codable {
  /// Nanoseconds since the caller's origin; may be negative.
  public var nanoseconds: Int64

  /// Makes the instant this many nanoseconds after the origin.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The origin itself.
  @inlinable public static var origin: Instant { Instant(nanoseconds: 0) }

  @inlinable public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The instant that is later by an interval, saturated at the end of the range.
  @inlinable public static func + (left: Instant, right: Interval) -> Instant {
    Instant(nanoseconds: left.nanoseconds.saturatingAdded(to: right.nanoseconds))
  }

  /// The time from `right` to `left`, saturated; negative if `left` is earlier.
  @inlinable public static func - (left: Instant, right: Instant) -> Interval {
    let (difference, overflow) =
      left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return Interval(nanoseconds: overflow ? (left < right ? .min : .max) : difference)
  }
}

extension Instant {
  /// The earlier of two instants; if one of them is `nil`, the other.
  @inlinable public static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    switch (one, other) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }
}
