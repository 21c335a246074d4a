import ChatFeature
import Composable
import ControlFeature
import ControlInterface
import HostFeature
package import HostScreen
import Ingest
import JSON
import LiveEvents
import NIOCore
import RateLimiting
import RecorderFeature
import ViewGraph
import WaitingRoomFeature

/// A room: a host's screen, and the events that feed it.
///
/// ``Room`` connects values with one responsibility each, and has the methods that the lane calls.
/// `Room+Steps` applies deliveries, acts and recordings. `Room+Keeping` saves and restores.
///
/// Not `Sendable`, because only the room's lane uses it.
package final class Room {
  let name: RoomName
  let life: RoomLifetime
  package let screen: HostScreen
  /// The states of the room for its monitors.
  let feed: RoomFeed
  /// The states of the room's screen for its monitors.
  let screenFeed: RoomFeed
  var turn: RoomTurn
  var settings: RoomSettings {
    didSet { applySettings(after: oldValue) }
  }
  var time: RoomTime
  package var known: KnownEvents
  var assembler = StepAssembler()
  var senders = WaitingSenders()
  var log: RoomLog
  /// When to save the room's state; `nil` if the next start does not restore the room.
  var snapshots: SnapshotSchedule?
  /// Whether the room is still replaying its log. Until it has finished, the snapshot on disk must
  /// not be replaced.
  var isRestoring: Bool
  var recorder = OwnRecorder()
  var requests = ControllerRequests()
  /// Makes recordings of the room; `nil` if recording is not available.
  let recordings: RoomRecordings?
  /// Closures to call once the chat's history has been searched.
  private var waitingForReview: [(Room) -> Void] = []
  /// The people whom the act being performed admits; `nil` if no act is being performed.
  private var admitted: [Person]?
  private let activity: LaneActivity
  private let trace: ActionTrace

  /// - Parameters:
  ///   - snapshot: the state to restore. The room's time does not advance until
  ///     ``wake(after:at:isLost:now:)``, and the room is not saved until ``endRestoration()``.
  ///   - snapshots: saves the room's state; `nil` if the next start does not restore the room.
  init(
    _ life: RoomLifetime, on lane: HostLane, settings: RoomSettings, now: NIODeadline,
    restoring snapshot: RoomSnapshot?, _ snapshots: SnapshotSchedule?
  ) {
    let name = life.room
    (self.name, self.life, self.settings) = (name, life, settings)
    turn = RoomTurn(now: now)
    time = RoomTime(
      from: snapshot?.instant, framesPerSecond: settings.framesPerSecond, now: now)
    known = snapshot?.known ?? KnownEvents()
    recordings = lane.recordings
    log = RoomLog(of: life.name, restoring: snapshot)
    (self.snapshots, isRestoring) = (snapshots, snapshot != nil)
    feed = RoomFeed { [weak lane] features in
      await lane?.read(name) { room in room.reading(features) }
    }
    screenFeed = RoomFeed { [weak lane] _ in
      await lane?.read(name) { room in room.screenReading() }
    }
    let meter = lane.meter
    screen = HostScreen(
      lane: EventLoopLane(lane.eventLoop, meter: meter, room: name),
      framesPerSecond: settings.framesPerSecond, throttling: settings.throttling,
      chatHistory: settings.chatHistory, analysesChat: settings.analysesChat,
      clock: MachineClock(meter.activity, room: name, faults: lane.faults), start: time.now,
      dependencies: Dependencies.live().overriding(requests.client)
        .overriding(recordings?.recorder(of: life) ?? .live)
        .overriding(ChatAnalysis.live.running(on: lane.work)),
      restoring: snapshot?.screen)
    activity = meter.activity
    trace = screen.store.actionTrace
    requests.setPatience(settings.requestTimeout)
    observe(lane)
  }

  private func observe(_ lane: HostLane) {
    let store = screen.store
    let (name, observer, faults) = (name, lane.observer, lane.faults)
    store.onAction { [weak self] action in
      switch action {
      case .control(.delegate(.committed(let control, let value))):
        observer(name, .committed(control: control, value: value))
      case .control(.delegate(.requestEnded(let request, let outcome))):
        self?.end(request.number, outcome)
        if let act = request.command.act, self?.time.isReplaying == false {
          observer(name, .acted(act, outcome))
        }
      case .recorder(.delegate(.attemptEnded(let attempt, let outcome))):
        for body in self?.recorder.end(attempt) ?? [] { body(.success(outcome)) }
      case .waitingRoom(.delegate(.admitted(let people))): self?.admitted? += people
      // Other actions concern no observer and no waiting caller.
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

  private func end(_ request: Int, _ outcome: RequestOutcome) {
    for body in requests.end(request) { body(outcome) }
    for body in requests.receiveAnswer(of: request) { body(()) }
  }

  func onEffects(_ body: @escaping () -> Void) { screen.store.onEffectActions = body }

  /// Reports to the hang monitor that the lane is working on this room.
  func beginWork() { activity.beginReducing(trace, in: name) }

  var counts: EventCounts { screen.counts }

  // MARK: Frames

  /// The machine's time of the next frame; `nil` if nothing will change on the screen.
  var nextFrame: NIODeadline? {
    time.deadline(of: screen.nextFrame, isAwaited: !senders.isEmpty)
  }

  /// Draws the frame that is due when the timer fires.
  func advance(to now: NIODeadline) {
    guard !time.isReplaying else { return }
    defer { log.handOver() }
    let due = time.advanceToFrame(
      at: now, next: screen.nextFrame, isAwaited: !senders.isEmpty)
    guard let due else { return }
    drawFrame(at: due.instant, flush: due.isLate)
    if due.isLate { time.resume(at: now) }
  }

  func drawFrame(at instant: Instant, flush: Bool = false) {
    time.advance(to: instant)
    beginWork()
    let flush = flush || !senders.isEmpty
    // Frame costs widen intervals only while the machine's clock moves the time, and not during a
    // recording, because a replay must use the recorded intervals.
    let adapting = time.source == .machine && !isRecording
    // A monitor that connects during this frame reads the room after it.
    let (isMonitored, isWatched) = (feed.hasMonitors, screenFeed.hasMonitors)
    screen.evaluatesViews = settings.views == .always || isMonitored || isWatched
    screen.drawFrame(at: instant, flush: flush, adapting: adapting)
    checkCounts()
    log.addFrame(at: instant, flush: flush)
    if isMonitored { feed.markStale(reading) }
    if isWatched { screenFeed.markStale { _ in screenReading() } }
    if !senders.isEmpty {
      for receipt in senders.removeAll() { whenStored { receipt.markApplied(failure: $0) } }
    }
    if awaitsReview, !screen.store.state.isReviewing { endReview() }
  }

  /// Draws a frame now if no timer will draw one.
  func drawIfUntimed() {
    if let instant = time.untimedFrame { drawFrame(at: instant) }
  }

  /// Checks that every received event was applied, coalesced or rejected, or is still held.
  func checkCounts() {
    precondition(screen.counts.isConserved, "an event of a room was counted twice or never")
  }

  /// Calls `body` once the chat's history has been searched for the current names and filter.
  /// Searching a long history takes some frames.
  func whenReviewed(_ body: @escaping (Room) -> Void) {
    if screen.store.state.chat?.isReviewing == true {
      waitingForReview.append(body)
    } else {
      body(self)
    }
  }

  /// Whether calls wait for the search of the chat's history.
  var awaitsReview: Bool { !waitingForReview.isEmpty }

  private func endReview() {
    for body in exchange(&waitingForReview, with: []) { body(self) }
  }

  /// Applies and draws held events for the last time.
  func finish() {
    drawFrame(at: time.followingFrame, flush: true)
    endReview()
    screen.store.cancelEffects()
    requests.endWaits()
    recorder.endWaits(.noSuchRoom(name.description))
  }

  /// Informs the monitors that the room is closed.
  func endMonitors() {
    requests.finish(.noSuchRoom(name.description))
    feed.finish(.noSuchRoom(name.description), reading)
    screenFeed.finish(.noSuchRoom(name.description)) { _ in self.screenReading() }
  }

  // MARK: Acts of the host

  func act(_ event: LiveEvent.Payload) -> Result<HostReply, ControlError> {
    let act = HostAct(room: name, event: HostAct.completing(event, in: screen.store.state))
    // The controllers of a recording that is being played are not connected to this room.
    if time.isReplaying, case .control(.act(let request)) = act.event {
      return .failure(act.noController(for: request))
    }
    if let result = act.result(before: screen.store.state) { return result }
    admitted = []
    let isPerformed = perform(act.event)
    return act.result(
      in: screen.store.state, isPerformed: isPerformed,
      admitted: exchange(&admitted, with: nil) ?? [])
  }

  /// Returns the number of the outstanding request for the control that an act changes, or of the
  /// newest act on a platform; `nil` if there is none.
  func request(of act: LiveEvent.Payload) -> Int? {
    HostAct(room: name, event: act).request(in: screen.store.state)
  }

  func reply(to act: LiveEvent.Payload, _ outcome: RequestOutcome) -> HostReply {
    HostAct(room: name, event: act).reply(after: outcome, in: screen.store.state)
  }

  /// Returns a reply with up-to-date counts of the chat's history.
  func withCounts(_ reply: HostReply, to act: LiveEvent.Payload) -> HostReply {
    HostAct(room: name, event: act).withCounts(reply, in: screen.store.state)
  }

  // MARK: Settings

  /// Applies new settings, except during a replay, which uses the recorded settings.
  func applySettings(after old: RoomSettings) {
    requests.setPatience(settings.requestTimeout)
    guard !time.isReplaying,
      settings.throttling != old.throttling || settings.analysesChat != old.analysesChat
    else { return }
    // Held events keep their deadline.
    screen.apply(settings.throttling)
    analyseChat(settings.analysesChat)
    log.add(RoomChange(settings: recordedSettings), at: time.now)
    log.handOver()
  }

  /// The current settings, for the log. The length of the history is the one with which the room
  /// was opened; a new length applies only to rooms opened later.
  var recordedSettings: RecordedSettings {
    var settings = settings
    settings.chatHistory = screen.store.state.chatHistory
    settings.analysesChat = analysesChat
    return RecordedSettings(settings)
  }

  private var analysesChat: Bool { screen.store.state.analysesChat == true }

  /// Starts or stops the search of the chat for bursts of duplicates.
  func analyseChat(_ isWanted: Bool) {
    if isWanted != analysesChat { screen.send(.chatAnalysisWanted(isWanted)) }
  }

  func restartAnalysis() {
    if analysesChat { screen.send(.chatAnalysisWanted(true)) }
  }

  // MARK: Reports

  /// Reads the data that a report of these features needs, on the lane; `nil` means all features.
  func read(_ features: Set<Feature>?) -> RoomReading {
    screen.evaluateViews()
    return RoomReading(
      screen, room: name.description, newestMessages: settings.reportedMessages, features)
  }

  /// Reads the room for monitors of these features; `nil` means all.
  func reading(_ features: Set<Feature>?) -> RoomFeed.Reading {
    let reading = read(features)
    return { try JSONValue(encoding: RoomReport(reading)) }
  }

  func screenReading() -> RoomFeed.Reading {
    let reading = ScreenReading(screen, room: name)
    return { try JSONValue(encoding: ScreenReport(reading)) }
  }

  var summary: RoomSummary { RoomSummary(screen, room: name) }
  var metrics: RoomMetrics { RoomMetrics(screen, room: name) }
  var sources: [SourceReport] { SourceReport.all(of: screen, known, in: name) }
}
