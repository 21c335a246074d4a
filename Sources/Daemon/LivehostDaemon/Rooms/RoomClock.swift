package import LiveEvents
package import RateLimiting
package import WireFormats

/// A room's own time. It begins at 0 when the room opens and never goes backwards, whichever source
/// moves it.
package struct RoomClock: Sendable {
  package private(set) var source: FrameClock = .arrival
  package private(set) var now = Instant.origin
  /// Room time minus machine time, in nanoseconds.
  private var machineOffset: Int64
  /// How event time maps to room time; `nil` until the first event after a switch to event time.
  private var events: EventTime?

  /// The farthest that events move the room's time: 146 years, so that no sum of times overflows.
  package static let farthest = Instant(nanoseconds: 1 << 62)

  /// The latest time that a room can have: some years later, since time goes on.
  package static let latest = farthest + .seconds(1_000_000_000)

  /// - Parameter machine: the machine's monotonic time now, in nanoseconds.
  package init(machine: Int64) { machineOffset = -machine }

  /// Changes the source. Time continues from where it is.
  package mutating func follow(_ source: FrameClock, machine: Int64) {
    guard source != self.source else { return }
    self.source = source
    switch source {
    case .arrival: machineOffset = now.nanoseconds - machine
    case .event: events = nil
    }
  }

  /// Follows the machine again, after the room's time has been moved by something else.
  package mutating func resume(machine: Int64) {
    source = .arrival
    machineOffset = now.nanoseconds - machine
    events = nil
  }

  /// The room's time at machine time `machine`; the current one while it follows events.
  package func time(machine: Int64) -> Instant {
    switch source {
    case .arrival: max(now, Instant(nanoseconds: machine + machineOffset))
    case .event: now
    }
  }

  /// The machine time at which the room's time will be `instant`, if it follows that.
  package func machineTime(of instant: Instant) -> Int64? {
    source == .arrival ? instant.nanoseconds - machineOffset : nil
  }

  /// The room's time of an event, while the room follows events. Late events and those with an
  /// absurd time stamp take place now; see ``EventTime``.
  package mutating func time(of timestamp: Timestamp) -> Instant {
    if events == nil { events = EventTime(timestamp, at: now) }
    return max(now, min(events?.time(of: timestamp, now: now) ?? now, Self.farthest))
  }

  /// Moves time forward.
  package mutating func advance(to instant: Instant) { now = max(now, instant) }
}
