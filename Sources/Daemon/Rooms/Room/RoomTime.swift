import Ingest
import LiveEvents
import NIOCore
import RateLimiting
import Recordings
import ViewGraph
import WireFormats

/// A room's time, moved by the machine's clock, by the timestamps of events, or by a recording.
struct RoomTime {
  enum TimeSource { case machine, events, replay }

  /// How long a room that follows timestamps holds events back after its senders fall silent.
  private static let stall = TimeAmount.seconds(5)

  private(set) var clock: RoomClock
  private let grid: FrameGrid
  private var lastDelivery: NIODeadline
  /// The room's time minus the recorded time, in nanoseconds; `nil` outside a replay.
  private var replayOffset: Int64?

  /// - Parameter start: the time of a restored room, which does not move until ``wake(at:now:)``.
  init(from start: Instant?, framesPerSecond: Int, now: NIODeadline) {
    clock = RoomClock(machine: now.machineTime)
    if let start { clock.advance(to: start) }
    grid = FrameGrid(framesPerSecond: Int64(framesPerSecond))
    lastDelivery = now
  }

  var now: Instant { clock.now }

  var isReplaying: Bool { replayOffset != nil }

  var source: TimeSource {
    if replayOffset != nil { return .replay }
    return clock.source == .arrival ? .machine : .events
  }

  /// Returns the room's time at a time of the machine; the current time while events move it.
  func time(at machine: NIODeadline) -> Instant { clock.time(machine: machine.machineTime) }

  mutating func advance(to instant: Instant) { clock.advance(to: instant) }

  /// Advances to the machine's time, except during a replay.
  mutating func advance(with machine: NIODeadline) {
    if replayOffset == nil { clock.advance(to: time(at: machine)) }
  }

  /// Returns the room's time of an event, while events move it.
  mutating func time(of timestamp: Timestamp) -> Instant { clock.time(of: timestamp) }

  /// Records that a part of a delivery has arrived. At the first part, switches to the clock that
  /// the sender has selected.
  mutating func beginPart(following source: FrameClock?, at machine: NIODeadline) {
    lastDelivery = machine
    if let source, replayOffset == nil { clock.follow(source, machine: machine.machineTime) }
  }

  // MARK: Frames

  /// The time of the first frame after the current time.
  var followingFrame: Instant { grid.frame(after: clock.now) }

  /// The time of a frame that must be drawn immediately after a change. `nil` if a timer draws it,
  /// because the machine's clock moves the time.
  var untimedFrame: Instant? {
    switch source {
    case .replay: clock.now
    case .events: followingFrame
    case .machine: nil
    }
  }

  /// Returns the machine's time of the next frame, which the screen needs or senders wait for;
  /// `nil` if there is nothing to draw.
  func deadline(of next: Instant?, isAwaited: Bool) -> NIODeadline? {
    if replayOffset != nil { return nil }
    var next = next
    if isAwaited { next = min(next ?? followingFrame, followingFrame) }
    guard let next else { return nil }
    guard let machine = clock.machineTime(of: next) else { return lastDelivery + Self.stall }
    return .uptimeNanoseconds(UInt64(max(0, machine)))
  }

  /// Advances to the machine's time when the timer fires. Returns the frame to draw; `nil` if none
  /// is due.
  ///
  /// A frame with `isLate` flushes the throttles, because the senders are silent. Call
  /// ``resume(at:)`` after drawing it.
  mutating func advanceToFrame(
    at machine: NIODeadline, next: Instant?, isAwaited: Bool
  ) -> (instant: Instant, isLate: Bool)? {
    switch source {
    case .replay: return nil
    case .machine:
      let instant = time(at: machine)
      clock.advance(to: instant)
      // Waiting senders are answered in this frame, even if throttles hold events.
      guard let due = isAwaited ? instant : next, due <= instant else { return nil }
      return (instant, false)
    case .events:
      guard let next, machine >= lastDelivery + Self.stall else { return nil }
      return (next, true)
    }
  }

  /// Makes the machine's clock move the room's time again, after something else moved it.
  mutating func resume(at machine: NIODeadline) { clock.resume(machine: machine.machineTime) }

  // MARK: Replays and restarts

  /// Makes the steps of a recording that begins at `first` move the time. A new room adopts the
  /// recorded times; any other room continues from its own time.
  mutating func beginReplay(from first: Instant) {
    replayOffset = max(0, clock.now.nanoseconds - first.nanoseconds)
  }

  /// Makes the steps of the room's own log move the time to their recorded times.
  mutating func beginCatchingUp() { replayOffset = 0 }

  /// Ends a replay. Call ``resume(at:)`` afterwards.
  mutating func endReplay() { replayOffset = nil }

  /// Returns the room's time of a step, limited to valid times, because the recording may come from
  /// another machine.
  func instant(of step: RecordedStep) -> Instant {
    let (sum, overflow) = step.instant.nanoseconds.addingReportingOverflow(replayOffset ?? 0)
    return overflow ? RoomClock.latest : min(Instant(nanoseconds: sum), RoomClock.latest)
  }

  mutating func wake(at instant: Instant, now: NIODeadline) {
    clock.advance(to: instant)
    resume(at: now)
  }

  mutating func wake(with clock: RoomClock, now: NIODeadline) {
    self.clock = clock
    self.clock.advance(to: time(at: now))
  }
}

extension NIODeadline {
  /// The time in monotonic nanoseconds.
  var machineTime: Int64 { Int64(uptimeNanoseconds) }
}
