import ChatFeature
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
import RecorderFeature
import Recordings
import ViewGraph
import WaitingRoomFeature
import WireFormats

/// A room: a host's screen and the events that feed it.
///
/// Not `Sendable`: belongs to its lane. Its screen follows the machine's clock or the time stamps
/// of the events, whichever its senders ask for.
final class Room {
  /// How long a room that follows time stamps may hold something while no event comes.
  static let eventTimeStall = TimeAmount.seconds(5)

  let name: RoomName
  let life: RoomLifetime
  let feed: RoomFeed
  let screenFeed: RoomFeed
  let screen: HostScreen
  var settings: RoomSettings {
    didSet { applySettings(after: oldValue) }
  }
  var clock: RoomClock
  /// Room time minus recorded time in nanoseconds, while a recording is played. Then only its steps
  /// move the room's time and draw its frames.
  var replayOffset: Int64? {
    // What effects brought back is among the recorded steps.
    didSet { screen.startsEffects = replayOffset == nil }
  }
  /// What the room was sent before.
  var known: KnownEvents
  /// The part of a batch that has been played so far; `nil` outside of one.
  var partOfBatch: PartOfBatch?
  /// How many steps the start has repeated, of which there is no snapshot yet.
  var repeatedSteps = 0
  /// Whether the next of the steps that are played is an act.
  var isActNext = false
  let grid: FrameGrid
  /// Senders that wait until their events are applied.
  var waiting: [DeliveryReceipt] = []
  /// Called once the history of the chat has been looked through.
  var waitingForReview: [(Room) -> Void] = []
  /// Rejected events of the present delivery.
  var rejectedOfDelivery = 0
  var lastDelivery: NIODeadline
  /// The millisecond of the machine's time for which the lane has the room in its list; `nil` if it has not.
  var due: Int64?
  /// When somebody last wanted something of the room, or had something for it.
  var lastUse: NIODeadline
  /// Posts the room's steps to the log; `nil` until the room is restored, and in a room that is not kept.
  var log: RoomLog?
  /// The log sequence of the state from which it was restored.
  var restoredSequence: Int
  /// A paused recording, which is to be resumed or closed.
  var pausedRecording: String?
  var saving: Saving?
  /// Makes the recordings; `nil` if there are none.
  let recordings: RoomRecordings?
  let recorderWaiters = RecorderWaiters()
  /// The rejections that are in the log.
  var loggedRejections: [RejectionReason: Int]
  /// Whether the state depends on more than events, such as acts of the host.
  var isDriven = false
  let activity: LaneActivity
  let trace: ActionTrace
  /// The people whom an act of the host lets in.
  let admitted = AdmittedPeople()

  /// What is asked of those who drive the real controls.
  let requests = RequestFeed()
  let requestWaiters = RequestWaiters()

  /// A list to which the store's callback can add.
  final class AdmittedPeople {
    /// `nil` while nobody asks.
    var people: [Person]?
  }

  /// Saves the room for the next start of the daemon; nil if it is not to be saved.
  var keeper: SnapshotSchedule?
  /// Whether what is saved of the room must not be replaced yet, since it leads to more than the room has seen.
  var isRestoring: Bool

  /// - Parameters:
  ///   - snapshot: of the room to restore; its time does not advance until ``wake(after:at:now:)``, and it is not
  ///     saved until ``endRestoration()``.
  ///   - keeper: saves the room for the next start of the daemon; nil if it is not to be saved.
  init(
    name: RoomName, on lane: HostLane, settings: RoomSettings, now: NIODeadline,
    restoring snapshot: RoomSnapshot?, keeper: SnapshotSchedule?
  ) {
    self.name = name
    self.settings = settings
    (lastDelivery, lastUse) = (now, now)
    self.keeper = keeper
    life = keeper?.room ?? RoomLifetime(name.description)
    isRestoring = snapshot != nil
    known = snapshot?.known ?? KnownEvents()
    restoredSequence = snapshot?.sequence ?? 0
    loggedRejections = snapshot?.screen.counts.rejectedByReason ?? [:]
    clock = RoomClock(machine: now.machineTime)
    if let snapshot { clock.advance(to: snapshot.instant) }
    grid = FrameGrid(framesPerSecond: Int64(settings.framesPerSecond))
    feed = RoomFeed { [weak lane] features in
      await lane?.read(name) { room in room.reading(features) }
    }
    screenFeed = RoomFeed { [weak lane] _ in
      await lane?.read(name) { room in room.screenReading() }
    }
    recordings = lane.recordings
    let recorder = recordings?.recorder(of: name, life, on: lane) ?? .live
    let meter = lane.meter
    screen = HostScreen(
      lane: EventLoopLane(lane.eventLoop, meter: meter, room: name),
      framesPerSecond: settings.framesPerSecond, throttling: settings.throttling,
      chatHistory: settings.chatHistory, analysesChat: settings.analysesChat,
      clock: MachineClock(meter.activity, room: name, faults: lane.faults), start: clock.now,
      dependencies: Dependencies.live().overriding(requests.client).overriding(recorder)
        .overriding(ChatAnalysis.live.running(on: lane.work)),
      restoring: snapshot?.screen)
    requests.patience = settings.requestTimeout
    activity = meter.activity
    trace = screen.store.actionTrace
    observe(lane)
  }

  private func observe(_ lane: HostLane) {
    let store = screen.store
    let (name, observer, faults) = (name, lane.observer, lane.faults)
    store.onAction { [admitted, requestWaiters, recorderWaiters] action in
      switch action {
      case .control(.delegate(.committed(let control, let value))):
        observer(name, .committed(control: control, value: value))
      case .control(.delegate(.requestEnded(let request, let outcome))):
        requestWaiters.end(request.number, outcome)
      case .recorder(.delegate(.attemptEnded(let attempt, let outcome))):
        recorderWaiters.end(attempt, outcome)
      case .waitingRoom(.delegate(.admitted(let people))): admitted.people? += people
      // Not listed: of all other actions there is nobody to tell.
      default: break
      }
    }
    screen.onEffectInput = { [unowned self] input in
      switch input {
      case .event(let event): perform(effectEvent: event)
      case .recorder(let input): perform(effectInput: input)
      }
    }
    store.onFailure = { observer(name, .failed("\($0)")) }
    store.onWarning = { observer(name, .failed($0)) }
    if faults.holdsActions {
      store.onAction { [trace] _ in faults.hold(.action(trace.name)) }
    }
  }

  var counts: EventCounts { screen.counts }

  /// The log sequence of the newest batch.
  var sequence: Int { log?.sequence ?? restoredSequence }

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

  /// Draws what is due when the timer fires.
  func advance(to now: NIODeadline) {
    guard replayOffset == nil else { return }
    defer { log?.handOver() }
    switch clock.source {
    case .arrival:
      let instant = clock.time(machine: now.machineTime)
      clock.advance(to: instant)
      // Senders that wait are answered at this frame, whatever throttles hold.
      guard let due = waiting.isEmpty ? screen.nextFrame : instant, due <= instant else { return }
      drawFrame(at: instant)
    case .event:
      // The sender is silent: what is held is shown, and time follows the machine again.
      guard now >= lastDelivery + Self.eventTimeStall, let due = screen.nextFrame else { return }
      drawFrame(at: due, flush: true)
      clock.follow(.arrival, machine: now.machineTime)
    }
  }

  func drawFrame(at instant: Instant, flush: Bool = false) {
    clock.advance(to: instant)
    activity.beginReducing(trace, in: name)
    let flush = flush || !waiting.isEmpty
    // In the time of time stamps a frame costs nothing, and a recording is played with the
    // intervals with which it was made.
    let adapting = clock.source == .arrival && !isRecording && replayOffset == nil
    // A monitor that comes meanwhile reads the room after this frame.
    let (isMonitored, isWatched) = (feed.hasMonitors, screenFeed.hasMonitors)
    screen.evaluatesViews = settings.views == .always || isMonitored || isWatched
    screen.drawFrame(at: instant, flush: flush, adapting: adapting)
    log?.addFrame(at: instant, flush: flush)
    if isMonitored { feed.markStale(reading) }
    if isWatched { screenFeed.markStale { _ in screenReading() } }
    for receipt in exchange(&waiting, with: []) {
      whenKept { receipt.markApplied(failure: $0) }
    }
    if !waitingForReview.isEmpty, !screen.store.state.isReviewing { endReview() }
  }

  private func endReview() {
    for body in exchange(&waitingForReview, with: []) { body(self) }
  }

  /// Performs an act that the host requested by a call. It is recorded like an event, so that a
  /// replay repeats it. Returns `false` if it was refused.
  func perform(_ payload: LiveEvent.Payload, now: NIODeadline = .now()) -> Bool {
    activity.beginReducing(trace, in: name)
    if replayOffset == nil { clock.advance(to: clock.time(machine: now.machineTime)) }
    // The host acts at the time of the events, which for a recording may be in another year.
    let time = screen.eventTime(at: clock.now) ?? Timestamp(WallClock.milliseconds())
    // Within the limits of a line, so that the recording can be read.
    let limits = EventLimits.timestamps
    let event = LiveEvent(
      timestamp: min(max(time, limits.lowerBound), limits.upperBound), payload: payload)
    guard screen.perform(event, at: clock.now) else { return false }
    isDriven = true
    log?.add(act: event, at: clock.now)
    drawIfUntimed()
    return true
  }

  /// Calls `completion` once everything up to now is on disk, in a room that is recorded or saved, or with why it
  /// cannot be.
  func whenDurable(_ completion: @escaping @Sendable (_ failure: String?) -> Void) {
    whenKept(completion)
    log?.handOver()
  }

  /// Logs how many events were rejected since the last time, for which there are no steps.
  func logRejections() {
    let rejections = screen.counts.rejectedByReason
    guard log != nil, rejections != loggedRejections else { return }
    var new = rejections.merging(loggedRejections) { $0 - $1 }
    new = new.filter { $0.value > 0 }
    loggedRejections = rejections
    log?.addChange(RoomChange(rejected: new), at: clock.now)
  }

  /// Applies and draws held events, for the last time.
  func finish() {
    drawFrame(at: grid.frame(after: clock.now), flush: true)
    endReview()
    screen.store.cancelEffects()
    requestWaiters.endAll()
    recorderWaiters.endAll(.noSuchRoom(name.description))
  }

  /// Tells the monitors that the room no longer exists.
  func endMonitors() {
    requests.finish(.noSuchRoom(name.description))
    feed.finish(.noSuchRoom(name.description), reading)
    screenFeed.finish(.noSuchRoom(name.description)) { _ in self.screenReading() }
  }
}

extension NIODeadline {
  /// Monotonic nanoseconds, as rooms count them.
  var machineTime: Int64 { Int64(uptimeNanoseconds) }
}
