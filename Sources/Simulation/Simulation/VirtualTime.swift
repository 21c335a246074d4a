public import LiveEvents

/// A point in virtual time, or a span of it: whole nanoseconds since the simulation began.
///
/// An integer, so that sums do not depend on the order of addition.
public struct VirtualTime: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static let zero = VirtualTime(nanoseconds: 0)
  public static func milliseconds(_ count: Int64) -> VirtualTime {
    VirtualTime(nanoseconds: count * 1_000_000)
  }
  public static func seconds(_ count: Int64) -> VirtualTime { .milliseconds(count * 1_000) }

  /// Whole milliseconds, rounded down.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  public static func + (left: VirtualTime, right: VirtualTime) -> VirtualTime {
    VirtualTime(nanoseconds: left.nanoseconds + right.nanoseconds)
  }
  public static func - (left: VirtualTime, right: VirtualTime) -> VirtualTime {
    VirtualTime(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  public static func += (left: inout VirtualTime, right: VirtualTime) { left = left + right }
  public static func < (left: VirtualTime, right: VirtualTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

/// An event and the virtual time at which it happens.
public struct TimedEvent: Hashable, Sendable {
  public var time: VirtualTime
  public var event: LiveEvent

  public init(time: VirtualTime, event: LiveEvent) {
    self.time = time
    self.event = event
  }
}
