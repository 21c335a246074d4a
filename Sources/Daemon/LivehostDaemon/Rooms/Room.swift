import Composable
import ControlFeature
import ControlInterface
import HostFeature
import HostScreen
import Ingest
import Intake
import LiveEvents
import NIOCore
import RateLimiting
import WireFormats

/// A room: a host's screen and the events that feed it.
///
/// Not `Sendable`: belongs to its lane. Drives its screen by the machine's clock or by the
/// time stamps of the events, whichever its feeders ask for.
final class Room {
  /// For how long a room that follows time stamps may hold something while no event comes.
  static let eventTimeStall = TimeAmount.seconds(5)

  let name: RoomName
  let feed: RoomFeed
  let screenFeed: RoomFeed
  let screen: HostScreen
  var settings: RoomSettings
  private var clock: RoomClock
  private let grid: FrameGrid
  /// Those who wait until what they sent is applied.
  private var waiting: [(acknowledgement: RoomDelivery.Acknowledgement, rejected: Int)] = []
  private var lastDelivery: NIODeadline
  /// Told of what went wrong and has no caller to be told.
  let onProblem: @Sendable (String) -> Void
  private let activity: LaneActivity
  private let trace: ActionTrace

  /// - Parameter onCommit: told of each slider value that is meant to last.
  init(
    name: RoomName, lane: EventLoopLane, meter: TurnMeter,
    faults: FaultInjection = FaultInjection(), settings: RoomSettings, now: NIODeadline,
    onProblem: @escaping @Sendable (String) -> Void = { _ in },
    onCommit: @escaping @Sendable (_ control: String, _ value: Double) -> Void = { _, _ in },
    requestFrame: @escaping @Sendable () async -> Void
  ) {
    self.name = name
    self.settings = settings
    self.onProblem = onProblem
    lastDelivery = now
    clock = RoomClock(machine: now.machineTime)
    grid = FrameGrid(framesPerSecond: Int64(settings.framesPerSecond))
    feed = RoomFeed(onDemand: { Task { await requestFrame() } })
    screenFeed = RoomFeed(onDemand: { Task { await requestFrame() } })
    screen = HostScreen(
      lane: lane, framesPerSecond: settings.framesPerSecond,
      clock: MachineClock(meter.activity, room: name, faults: faults), start: clock.now)
    screen.apply(settings.throttling)
    screen.store.onAction { action in
      if case .control(.delegate(.committed(let control, let value))) = action {
        onCommit(control, value)
      }
    }
    activity = meter.activity
    trace = screen.store.actionTrace
    screen.store.onFailure = { onProblem("\($0)") }
    screen.store.onWarning = { onProblem($0) }
    if faults.holdsActions {
      screen.store.onAction { [trace] _ in faults.hold(.action(trace.name)) }
    }
  }

  var counts: EventCounts { screen.counts }

  /// Takes a delivery: one or many events, all of one sender, in order.
  func receive(_ delivery: RoomDelivery, now: NIODeadline) {
    lastDelivery = now
    activity.reduces(trace, in: name)
    clock.follow(delivery.clock, machine: now.machineTime)
    for (reason, count) in delivery.rejections.byReason { screen.reject(reason, count) }
    let rejectedBefore = screen.counts.rejected
    switch clock.source {
    case .arrival: takeNow(delivery.events, now)
    case .event: takeByTimestamp(delivery.events)
    }
    let rejected = screen.counts.rejected - rejectedBefore
    delivery.acknowledgement.consumed(rejected: rejected)
    if delivery.acknowledgement.isWanted {
      waiting.append((delivery.acknowledgement, rejected))
      // Nobody moves the time of a room that follows events but its events: draw at once.
      if clock.source == .event { drawFrame(at: grid.frame(after: clock.now)) }
    }
  }

  private func takeNow(_ events: [LiveEvent], _ now: NIODeadline) {
    clock.advance(to: clock.time(machine: now.machineTime))
    for event in events { screen.receive(event, at: clock.now) }
    screen.reduce()
  }

  private func takeByTimestamp(_ events: [LiveEvent]) {
    for event in events {
      let instant = clock.time(of: event.timestamp)
      // A frame shows all events of its instant, and never stands before the event that it shows.
      while let due = screen.nextFrame, max(due, clock.now) < instant {
        drawFrame(at: max(due, clock.now))
      }
      clock.advance(to: instant)
      screen.receive(event, at: instant)
      screen.reduce()
    }
  }

  /// The machine time of the next frame; `nil` if there is nothing to draw.
  var nextFrame: NIODeadline? {
    var next = screen.nextFrame
    if !waiting.isEmpty {
      next = min(next ?? grid.frame(after: clock.now), grid.frame(after: clock.now))
    }
    guard let next else { return nil }
    guard let machine = clock.machineTime(of: next) else {
      return lastDelivery + Self.eventTimeStall
    }
    return .uptimeNanoseconds(UInt64(max(0, machine)))
  }

  /// The timer fired: draws what is due.
  func advance(to now: NIODeadline) {
    switch clock.source {
    case .arrival:
      let instant = clock.time(machine: now.machineTime)
      clock.advance(to: instant)
      guard let due = screen.nextFrame ?? (waiting.isEmpty ? nil : instant), due <= instant else {
        return
      }
      drawFrame(at: instant)
    case .event:
      // The feeder is silent: what is held is shown, and time goes on by itself.
      guard now >= lastDelivery + Self.eventTimeStall, let due = screen.nextFrame else { return }
      drawFrame(at: due, flush: true)
      clock.follow(.arrival, machine: now.machineTime)
    }
  }

  private func drawFrame(at instant: Instant, flush: Bool = false) {
    clock.advance(to: instant)
    activity.reduces(trace, in: name)
    // Time stamps of events are no time in which frames could be expensive.
    screen.drawFrame(
      at: instant, flush: flush || !waiting.isEmpty, adapting: clock.source == .arrival)
    activity.does(.report, in: name)
    publish()
    for (acknowledgement, rejected) in exchange(&waiting, with: []) {
      acknowledgement.applied(rejected: rejected)
    }
  }

  /// Takes over how long events may wait; what is held keeps its deadline.
  func apply(_ policies: ThrottlePolicies) { screen.apply(policies) }

  /// Reduces an action of somebody who drives the room.
  func send(_ action: HostFeature.Action) {
    activity.reduces(trace, in: name)
    screen.send(action)
    // Nobody moves the time of a room that follows events but its events: draw at once.
    if clock.source == .event { drawFrame(at: grid.frame(after: clock.now)) }
  }

  /// Applies and draws what is held, and ends the monitors.
  func finish() {
    drawFrame(at: grid.frame(after: clock.now), flush: true)
    screen.store.cancelEffects()
    feed.finish(.noSuchRoom(name.description))
    screenFeed.finish(.noSuchRoom(name.description))
  }
}

extension NIODeadline {
  /// Monotonic nanoseconds, as rooms count them.
  var machineTime: Int64 { Int64(uptimeNanoseconds) }
}
