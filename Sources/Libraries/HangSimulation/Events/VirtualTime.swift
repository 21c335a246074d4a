import RateLimiting

/// A point or duration in virtual time: whole nanoseconds since the start of the simulation, or
/// between two points. The value is an integer, so sums do not depend on the order of addition.
public struct VirtualTime: Hashable, Comparable, Sendable {
  /// The nanoseconds since the start of the simulation, or between two points.
  public var nanoseconds: Int64

  /// Creates a time from nanoseconds.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Creates a time from a duration, truncated to whole nanoseconds.
  public init(_ duration: Duration) { nanoseconds = Interval(duration).nanoseconds }

  /// The start of the simulation.
  @inlinable public static var zero: VirtualTime { VirtualTime(nanoseconds: 0) }
  /// Returns a time of this many milliseconds.
  @inlinable public static func milliseconds(_ count: Int64) -> VirtualTime {
    VirtualTime(nanoseconds: count * 1_000_000)
  }
  /// Returns a time of this many seconds.
  @inlinable public static func seconds(_ count: Int64) -> VirtualTime {
    .milliseconds(count * 1_000)
  }

  /// The whole milliseconds, rounded towards zero.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// Returns the sum.
  @inlinable public static func + (left: VirtualTime, right: VirtualTime) -> VirtualTime {
    VirtualTime(nanoseconds: left.nanoseconds + right.nanoseconds)
  }
  /// Returns the time from `right` to `left`.
  @inlinable public static func - (left: VirtualTime, right: VirtualTime) -> VirtualTime {
    VirtualTime(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  /// Advances a time.
  @inlinable public static func += (left: inout VirtualTime, right: VirtualTime) {
    left = left + right
  }
  /// Returns whether two times are equal. Not synthesised, because a synthesised operator is never
  /// inlined in other modules.
  @inlinable public static func == (left: VirtualTime, right: VirtualTime) -> Bool {
    left.nanoseconds == right.nanoseconds
  }
  /// Returns whether `left` is earlier.
  @inlinable public static func < (left: VirtualTime, right: VirtualTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}
