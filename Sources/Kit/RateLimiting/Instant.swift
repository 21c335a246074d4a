/// A point in time: nanoseconds since an origin that the caller chooses.
///
/// The machines of this library read no clock. A caller passes monotonic time, virtual time or the
/// time stamps of the events, and stays with one of them for the life of a machine. Time may step
/// back (time stamps arrive out of order): a machine then behaves as if no time had passed, and
/// what it holds keeps its deadline.
public struct Instant: Hashable, Comparable, Sendable, Codable {
  /// Nanoseconds since the caller's origin; may be negative.
  public var nanoseconds: Int64

  /// Makes the instant so many nanoseconds after the origin.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The origin itself.
  @inlinable public static var origin: Instant { Instant(nanoseconds: 0) }

  @inlinable public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The instant so much later, saturated at the end of the range.
  @inlinable public static func + (left: Instant, right: Interval) -> Instant {
    Instant(nanoseconds: left.nanoseconds.saturatingAdded(to: right.nanoseconds))
  }

  /// The time from `right` to `left`, saturated; negative if `left` is the earlier one.
  @inlinable public static func - (left: Instant, right: Instant) -> Interval {
    let (difference, overflow) =
      left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return Interval(nanoseconds: overflow ? (left < right ? .min : .max) : difference)
  }
}

extension Instant {
  /// The earlier of two instants; the other one if one is `nil`.
  @inlinable public static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    switch (one, other) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }
}
