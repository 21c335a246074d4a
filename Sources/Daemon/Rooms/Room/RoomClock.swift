package import LiveEvents
package import RateLimiting
package import WireFormats

/// A room's time, which begins at 0 when the room opens and never goes backwards, whether the
/// machine's clock or events move it.
package struct RoomClock: Sendable {
  package private(set) var source: FrameClock = .arrival
  package private(set) var now = Instant.origin
  /// Room time minus machine time, in nanoseconds.
  private var machineOffset: Int64
  /// Maps the timestamps of events to the room's time; `nil` until the first event after a switch
  /// to timestamps.
  private var events: EventTime?

  /// The latest time to which events can move a room: 146 years, so that sums of times do not
  /// overflow.
  package static let farthest = Instant(nanoseconds: 1 << 62)

  /// The latest time that a room can reach: later than ``farthest``, because the machine's clock
  /// continues to move the time.
  package static let latest = farthest + .seconds(1_000_000_000)

  /// - Parameter machine: the machine's monotonic time now, in nanoseconds.
  package init(machine: Int64) { machineOffset = -machine }

  /// Selects the clock that moves the time. The time continues from its current value.
  package mutating func follow(_ source: FrameClock, machine: Int64) {
    guard source != self.source else { return }
    self.source = source
    switch source {
    case .arrival: machineOffset = now.nanoseconds - machine
    case .event: events = nil
    }
  }

  /// Makes the machine's clock move the time again, after something else moved it.
  package mutating func resume(machine: Int64) {
    source = .arrival
    machineOffset = now.nanoseconds - machine
    events = nil
  }

  /// Returns the room's time at the machine's time `machine`; the current time while events move
  /// it.
  package func time(machine: Int64) -> Instant {
    switch source {
    case .arrival: max(now, Instant(nanoseconds: machine + machineOffset))
    case .event: now
    }
  }

  /// Returns the machine's time at which the room's time will be `instant`; `nil` while events move
  /// the time.
  package func machineTime(of instant: Instant) -> Int64? {
    source == .arrival ? instant.nanoseconds - machineOffset : nil
  }

  /// Returns the room's time of an event, while events move the time. Late events and events with
  /// an invalid timestamp take place now; see ``EventTime``.
  package mutating func time(of timestamp: Timestamp) -> Instant {
    if events == nil { events = EventTime(timestamp, at: now) }
    return max(now, min(events?.time(of: timestamp, now: now) ?? now, Self.farthest))
  }

  /// Moves time forward.
  package mutating func advance(to instant: Instant) { now = max(now, instant) }
}
