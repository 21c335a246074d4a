/// A span of time in whole nanoseconds.
///
/// An integer, because two runs over the same input must agree exactly. An interval has 64 bits,
/// half as many as `Duration`, because intervals are compared on every push. The range is about 292
/// years in either direction. Arithmetic saturates at the ends of the range, so a hostile time
/// stamp cannot trap.
public struct Interval: Hashable, Comparable, Sendable {
  /// The length in nanoseconds; may be negative.
  public var nanoseconds: Int64

  /// Makes an interval of this many nanoseconds.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The empty interval.
  @inlinable public static var zero: Interval { Interval(nanoseconds: 0) }

  @inlinable public static func nanoseconds(_ count: Int64) -> Interval {
    Interval(nanoseconds: count)
  }

  /// An interval of this many microseconds, saturated.
  @inlinable public static func microseconds(_ count: Int64) -> Interval {
    Interval(nanoseconds: count.saturatingMultiplied(by: 1_000))
  }

  /// An interval of this many milliseconds, saturated.
  @inlinable public static func milliseconds(_ count: Int64) -> Interval {
    Interval(nanoseconds: count.saturatingMultiplied(by: 1_000_000))
  }

  /// An interval of this many seconds, saturated.
  @inlinable public static func seconds(_ count: Int64) -> Interval {
    Interval(nanoseconds: count.saturatingMultiplied(by: 1_000_000_000))
  }

  @inlinable public static func < (left: Interval, right: Interval) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The sum, saturated.
  @inlinable public static func + (left: Interval, right: Interval) -> Interval {
    Interval(nanoseconds: left.nanoseconds.saturatingAdded(to: right.nanoseconds))
  }

  /// The product, saturated.
  @inlinable public static func * (left: Interval, right: Int64) -> Interval {
    Interval(nanoseconds: left.nanoseconds.saturatingMultiplied(by: right))
  }
}

extension Interval {
  /// The whole nanoseconds of a duration, truncated and saturated.
  @inlinable public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(
      nanoseconds: seconds.saturatingMultiplied(by: 1_000_000_000)
        .saturatingAdded(to: attoseconds / 1_000_000_000))
  }
}

extension Duration {
  /// The same span as a duration; exact.
  @inlinable public init(_ interval: Interval) {
    self = .nanoseconds(interval.nanoseconds)
  }
}

extension Int64 {
  @inlinable func saturatingAdded(to other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  @inlinable func saturatingMultiplied(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
