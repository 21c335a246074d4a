import RateLimiting

/// A point in virtual time, or a span of it: whole nanoseconds since the simulation began.
///
/// An integer, so that sums do not depend on the order of addition.
public struct VirtualTime: Hashable, Comparable, Sendable {
  /// Since the simulation began, or from one point to another.
  public var nanoseconds: Int64

  /// The time this long after the beginning.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The time this long after the beginning, cut off to whole nanoseconds.
  public init(_ duration: Duration) { nanoseconds = Interval(duration).nanoseconds }

  /// The beginning.
  @inlinable public static var zero: VirtualTime { VirtualTime(nanoseconds: 0) }
  /// This many milliseconds.
  @inlinable public static func milliseconds(_ count: Int64) -> VirtualTime {
    VirtualTime(nanoseconds: count * 1_000_000)
  }
  /// This many seconds.
  @inlinable public static func seconds(_ count: Int64) -> VirtualTime {
    .milliseconds(count * 1_000)
  }

  /// Whole milliseconds, rounded down.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// The sum.
  @inlinable public static func + (left: VirtualTime, right: VirtualTime) -> VirtualTime {
    VirtualTime(nanoseconds: left.nanoseconds + right.nanoseconds)
  }
  /// The time from `right` to `left`.
  @inlinable public static func - (left: VirtualTime, right: VirtualTime) -> VirtualTime {
    VirtualTime(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  /// Moves a time on.
  @inlinable public static func += (left: inout VirtualTime, right: VirtualTime) {
    left = left + right
  }
  /// Whether two times are the same. Written out, since one that the compiler writes is never inlined elsewhere.
  @inlinable public static func == (left: VirtualTime, right: VirtualTime) -> Bool {
    left.nanoseconds == right.nanoseconds
  }
  /// Earlier times come first.
  @inlinable public static func < (left: VirtualTime, right: VirtualTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}
