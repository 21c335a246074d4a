/// A point in time: nanoseconds since an origin that the caller chooses.
///
/// The limiters of this library do not read a clock. The caller passes monotonic time, virtual time
/// or the time stamps of events, and must use the same kind for the lifetime of a limiter. Time may
/// go backwards, because time stamps can arrive out of order. A limiter then behaves as if no time
/// had passed, and held values keep their deadlines.
public struct Instant: Hashable, Comparable, Sendable, Codable {
  /// The number of nanoseconds since the caller's origin; may be negative.
  public var nanoseconds: Int64

  /// Makes the instant this many nanoseconds after the origin.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The origin.
  @inlinable public static var origin: Instant { Instant(nanoseconds: 0) }

  @inlinable public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Returns the instant that is later by an interval, saturated at the end of the range.
  @inlinable public static func + (left: Instant, right: Interval) -> Instant {
    Instant(nanoseconds: left.nanoseconds.saturatingAdded(to: right.nanoseconds))
  }

  /// Returns the time from `right` to `left`, saturated; negative if `left` is earlier.
  @inlinable public static func - (left: Instant, right: Instant) -> Interval {
    let (difference, overflow) =
      left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return Interval(nanoseconds: overflow ? (left < right ? .min : .max) : difference)
  }
}

extension Instant {
  /// Returns the earlier of two instants, or the instant that is not `nil`.
  @inlinable public static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    switch (one, other) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }
}
