import Composable
import ControlFeature
import ControlInterface
import HostFeature
import HostScreen
import Ingest
import Intake
import LiveEvents
import NIOCore
import Platform
import RateLimiting
import Recordings
import WaitingRoomFeature
import WireFormats

/// A room: a host's screen and the events that feed it.
///
/// Not `Sendable`: belongs to its lane. Drives its screen by the machine's clock or by the
/// time stamps of the events, whichever its feeders ask for.
final class Room {
  /// For how long a room that follows time stamps may hold something while no event comes.
  static let eventTimeStall = TimeAmount.seconds(5)
  /// How many frames are drawn between two events of a room that follows time stamps. After so many
  /// nothing but a clock moves on the screen; what lies between may be years.
  static let framesInGap = 64
  /// How much of such a delivery is taken at once, in events and in milliseconds of their time: each
  /// frame within is drawn.
  static let partOfEvents = 512
  static let partOfTime: Timestamp = 10_000

  let name: RoomName
  let feed: RoomFeed
  let screenFeed: RoomFeed
  let screen: HostScreen
  var settings: RoomSettings {
    didSet { applySettings(after: oldValue) }
  }
  var clock: RoomClock
  /// Room time minus recorded time in nanoseconds, while a recording is played: then nothing but its
  /// steps moves the room's time and draws its frames.
  var replayOffset: Int64?
  private let grid: FrameGrid
  /// Those who wait until what they sent is applied.
  private var waiting: [Waiting] = []
  /// Rejected events of the delivery that is being taken.
  private var rejectedOfDelivery = 0
  private var lastDelivery: NIODeadline
  /// Where what the room does is recorded, while it is.
  var recording: RoomRecording?
  /// The recorder of a recording that was ended and is not closed yet: it may still have to write what
  /// those who wait have sent.
  var closingRecorder: RoomRecorder?
  /// Whether the state depends on more than events.
  var isDriven = false
  let activity: LaneActivity
  let trace: ActionTrace
  /// Those whom the host let in since the last one who asked took the list.
  let admitted = Admitted()

  /// A list to which a closure of the store's can add.
  final class Admitted {
    var people: [Person] = []
  }

  /// Keeps the room for the next start of the daemon, where that is wanted.
  var keeper: RoomKeeper?

  /// - Parameters:
  ///   - snapshot: of the room that this one is to be; ``wake(after:now:)`` sets its time going.
  ///   - keeper: keeps the room for the next start of the daemon; nil if it is not to be kept.
  init(
    name: RoomName, on lane: HostLane, settings: RoomSettings, now: NIODeadline,
    restoring snapshot: RoomSnapshot?, keeper: RoomKeeper?
  ) {
    self.name = name
    self.settings = settings
    lastDelivery = now
    self.keeper = keeper
    clock = RoomClock(machine: now.machineTime)
    if let snapshot { clock.advance(to: snapshot.instant) }
    grid = FrameGrid(framesPerSecond: Int64(settings.framesPerSecond))
    feed = RoomFeed { [weak lane] features in
      await lane?.report(name, features: features)
    }
    screenFeed = RoomFeed { [weak lane] _ in
      await lane?.screen(name)
    }
    let meter = lane.meter
    screen = HostScreen(
      lane: EventLoopLane(lane.eventLoop, meter: meter, room: name),
      framesPerSecond: settings.framesPerSecond, throttling: settings.throttling,
      chatHistory: settings.chatHistory,
      clock: MachineClock(meter.activity, room: name, faults: lane.faults), start: clock.now,
      restoring: snapshot?.screen)
    activity = meter.activity
    trace = screen.store.actionTrace
    observe(lane)
  }

  private func observe(_ lane: HostLane) {
    let store = screen.store
    let (name, observer, faults) = (name, lane.observer, lane.faults)
    store.onAction { [admitted] action in
      if case .control(.delegate(.committed(let control, let value))) = action {
        observer(name, .committed(control: control, value: value))
      } else if case .waitingRoom(.delegate(.admitted(let people))) = action {
        admitted.people += people
      }
    }
    store.onFailure = { observer(name, .failed("\($0)")) }
    store.onWarning = { observer(name, .failed($0)) }
    if faults.holdsActions {
      store.onAction { [trace] _ in faults.hold(.action(trace.name)) }
    }
  }

  var counts: EventCounts { screen.counts }

  /// A sender that waits, and the recorder that has what it sent.
  private struct Waiting {
    let receipt: DeliveryReceipt
    let recorder: RoomRecorder?
  }

  /// Takes a delivery, or the part of it that begins at `start`: one or many events, all of one sender, in
  /// order. Gives where the next part begins, or `nil` once all is taken; nothing else may come to the
  /// room before it.
  func receive(_ delivery: RoomDelivery, from start: Int = 0, now: NIODeadline) -> Int? {
    lastDelivery = now
    activity.reduces(trace, in: name)
    if start == 0 {
      if replayOffset == nil { clock.follow(delivery.clock, machine: now.machineTime) }
      for (reason, count) in delivery.rejections.byReason { screen.reject(reason, count) }
      rejectedOfDelivery = 0
    }
    let rejectedBefore = screen.counts.rejected
    var end = delivery.events.count
    switch clock.source {
    case _ where replayOffset != nil: takeAll(delivery.events[start...])
    case .arrival: takeNow(delivery.events[start...], now)
    case .event:
      end = Self.endOfPart(delivery.events, from: start)
      takeByTimestamp(delivery.events[start..<end])
    }
    rejectedOfDelivery += screen.counts.rejected - rejectedBefore
    guard end == delivery.events.count else {
      recording?.handOver()
      return end
    }
    tookAll(of: delivery)
    return nil
  }

  private static func endOfPart(_ events: [LiveEvent], from start: Int) -> Int {
    guard start < events.count else { return start }
    let last = events[start].timestamp.addingReportingOverflow(partOfTime).partialValue
    let part = events[start...].prefix(partOfEvents)
    return part.dropFirst().firstIndex { $0.timestamp > last } ?? part.endIndex
  }

  /// All of a delivery is taken: its sender is told, now or later.
  private func tookAll(of delivery: RoomDelivery) {
    let receipt = delivery.receipt
    let recorder = recording?.recorder
    if let recorder, !delivery.events.isEmpty { receipt.markKept(by: recorder) }
    receipt.markRejected(rejectedOfDelivery)
    // The sender may go on; if the disk does not keep up, once it does.
    if recording?.isBehind == true {
      recording?.whenSynced { receipt.markConsumed() }
    } else {
      receipt.markConsumed()
    }
    if receipt.wantsAcknowledgement {
      waiting.append(Waiting(receipt: receipt, recorder: recorder ?? closingRecorder))
      drawIfUntimed()
    }
    recording?.handOver()
  }

  /// Draws at once where no timer will: nobody moves the time of a room that follows events, or a
  /// recording, but those.
  private func drawIfUntimed() {
    if replayOffset != nil {
      drawFrame(at: clock.now)
    } else if clock.source == .event {
      drawFrame(at: grid.frame(after: clock.now))
    }
  }

  private func takeNow(_ events: ArraySlice<LiveEvent>, _ now: NIODeadline) {
    clock.advance(to: clock.time(machine: now.machineTime))
    takeAll(events)
  }

  private func takeAll(_ events: ArraySlice<LiveEvent>) {
    var first = events.startIndex
    var refused = 0
    for index in events.indices {
      screen.receive(events[index], at: clock.now)
      guard recording != nil, screen.refusedCount > refused else { continue }
      recording?.add(events[first..<index], at: clock.now)
      first = index + 1
      refused = screen.refusedCount
    }
    recording?.add(events[first...], at: clock.now)
    screen.reduce()
  }

  private func takeByTimestamp(_ events: ArraySlice<LiveEvent>) {
    for index in events.indices {
      let event = events[index]
      let instant = clock.time(of: event.timestamp)
      // A frame shows all events of its instant, and never stands before the event that it shows.
      var frames = 0
      while frames < Self.framesInGap, let due = screen.nextFrame, max(due, clock.now) < instant {
        drawFrame(at: max(due, clock.now))
        frames += 1
      }
      clock.advance(to: instant)
      screen.receive(event, at: instant)
      if screen.refusedCount == 0 { recording?.add(events[index...index], at: instant) }
      screen.reduce()
    }
  }

  /// The machine time of the next frame; `nil` if there is nothing to draw.
  var nextFrame: NIODeadline? {
    if replayOffset != nil { return nil }
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
    guard replayOffset == nil else { return }
    defer { recording?.handOver() }
    switch clock.source {
    case .arrival:
      let instant = clock.time(machine: now.machineTime)
      clock.advance(to: instant)
      // Who waits is answered at this frame, whatever throttles would hold.
      guard let due = waiting.isEmpty ? screen.nextFrame : instant, due <= instant else { return }
      drawFrame(at: instant)
    case .event:
      // The feeder is silent: what is held is shown, and time goes on by itself.
      guard now >= lastDelivery + Self.eventTimeStall, let due = screen.nextFrame else { return }
      drawFrame(at: due, flush: true)
      clock.follow(.arrival, machine: now.machineTime)
    }
  }

  func drawFrame(at instant: Instant, flush: Bool = false) {
    clock.advance(to: instant)
    activity.reduces(trace, in: name)
    let flush = flush || !waiting.isEmpty
    // Time stamps of events are no time in which frames could be expensive; and a recording is played
    // with the intervals that it was made with.
    let adapting = clock.source == .arrival && recording == nil && replayOffset == nil
    screen.drawFrame(at: instant, flush: flush, adapting: adapting)
    recording?.addFrame(at: instant, flush: flush)
    feed.markStale()
    screenFeed.markStale()
    for entry in exchange(&waiting, with: []) {
      acknowledge(entry.receipt, entry.recorder)
    }
  }

  /// Takes something that the host does by a call. It is recorded like an event, so that a replay does
  /// it, too; `false` if it was refused.
  func perform(_ payload: LiveEvent.Payload, now: NIODeadline = .now()) -> Bool {
    activity.reduces(trace, in: name)
    if replayOffset == nil { clock.advance(to: clock.time(machine: now.machineTime)) }
    // The host acts at the time of the events: those of a recording may be of another year.
    let time = screen.eventTime(at: clock.now) ?? Timestamp(WallClock.milliseconds())
    // Within what a line may say, so that the recording can be read.
    let limits = EventLimits.timestamps
    let event = LiveEvent(
      timestamp: min(max(time, limits.lowerBound), limits.upperBound), payload: payload)
    guard screen.perform(event, at: clock.now) else { return false }
    isDriven = true
    recording?.add([event], at: clock.now)
    drawIfUntimed()
    return true
  }

  /// Calls `completion` once what the room did so far outlives the daemon, as far as it is to.
  func whenSafe(_ completion: @escaping @Sendable () -> Void) {
    if recording != nil {
      recording?.whenSynced(completion)
      recording?.handOver()
    } else {
      whenKept { _ in completion() }
    }
  }

  /// Applies and draws what is held, for the last time.
  func finish() {
    drawFrame(at: grid.frame(after: clock.now), flush: true)
    screen.store.cancelEffects()
  }

  /// Tells the monitors that there is no such room any more.
  func endMonitors() {
    feed.finish(.noSuchRoom(name.description))
    screenFeed.finish(.noSuchRoom(name.description))
  }
}

extension NIODeadline {
  /// Monotonic nanoseconds, as rooms count them.
  var machineTime: Int64 { Int64(uptimeNanoseconds) }
}
