import Composable
import ControlFeature
package import ControlInterface
import HostFeature
import HostScreen
import Ingest
package import LiveEvents
import NIOCore
import RateLimiting
import RecorderFeature
import Recordings
import SourcesFeature
import SystemSupport
import ViewGraph
package import WireFormats

// The changes of a room: events from senders, acts, outcomes of effects, and replayed steps.
extension Room {
  // MARK: Deliveries

  /// The maximum number of frames drawn between two events in a room that follows timestamps. In a
  /// longer gap, which may last for years, only clocks move on the screen.
  private static let framesInGap = 64
  /// The maximum number of events that one call applies if a delivery follows timestamps.
  private static let partOfEvents = 512
  /// The maximum time, in milliseconds, between the events that one call applies. It limits the
  /// work of a call, because every frame between the events is drawn.
  private static let partOfTime: Timestamp = 10_000

  /// Applies a delivery, or the part of it that begins at `start`. A delivery contains events of
  /// one sender, in order. Returns the start of the next part, before which the room must receive
  /// nothing else, or `nil` after the last part.
  func receive(_ delivery: RoomDelivery, from start: Int = 0, now: NIODeadline) -> Int? {
    beginWork()
    time.beginPart(following: start == 0 ? delivery.clock : nil, at: now)
    if start == 0 {
      for (reason, count) in delivery.rejections.byReason { screen.reject(reason, count) }
      senders.beginDelivery()
    }
    let rejectedBefore = screen.counts.rejected
    var end = delivery.events.count
    switch time.source {
    case _ where delivery.position != nil: receiveBatch(delivery, now)
    case .replay: receiveAll(of: delivery, from: start)
    case .machine:
      time.advance(with: now)
      receiveAll(of: delivery, from: start)
    case .events:
      end = Self.endOfPart(delivery.events, from: start)
      receiveByTimestamp(delivery, start..<end)
    }
    checkCounts()
    senders.addRejected(screen.counts.rejected - rejectedBefore)
    guard end == delivery.events.count else {
      log.handOver()
      return end
    }
    finish(delivery)
    return nil
  }

  private static func endOfPart(_ events: [LiveEvent], from start: Int) -> Int {
    guard start < events.count else { return start }
    let last = events[start].timestamp.addingReportingOverflow(partOfTime).partialValue
    let part = events[start...].prefix(partOfEvents)
    return part.dropFirst().firstIndex { $0.timestamp > last } ?? part.endIndex
  }

  /// Answers the sender of a delivery, immediately or later.
  private func finish(_ delivery: RoomDelivery) {
    let receipt = delivery.receipt
    logRejections()
    log.count(bytes: receipt.byteCount)
    let wantsFrame = senders.endDelivery(receipt)
    // If the disk does not keep up, the sender may continue only once it does. The wait also covers
    // the log entries of frames that the events' timestamps caused.
    whenLogKeepsUp { receipt.markConsumed() }
    if wantsFrame { drawIfUntimed() }
    log.handOver()
  }

  /// Applies a batch of a source, unless the room has received the batch before. The events of the
  /// batch, its position and the log entries form one step at one instant, regardless of the
  /// timestamps of the events.
  private func receiveBatch(_ delivery: RoomDelivery, _ now: NIODeadline) {
    guard let position = delivery.position else { return }
    guard !known.holds(position) else { return screen.reject(.duplicate, delivery.events.count) }
    switch time.source {
    case .replay: break
    case .machine: time.advance(with: now)
    case .events:
      for event in delivery.events { time.advance(to: time.time(of: event.timestamp)) }
    }
    receiveAll(of: delivery, position)
  }

  private func receiveAll(
    of delivery: RoomDelivery, from start: Int = 0, _ position: BatchPosition? = nil
  ) {
    let now = time.now
    let events = delivery.events[start...]
    // The accepted events in contiguous ranges; there is nearly always one range.
    var accepted: [ArraySlice<LiveEvent>] = []
    var first = events.startIndex
    var refused = 0
    for index in events.indices {
      let event = events[index]
      let isRepeated = !known.insert(event, at: now)
      if isRepeated {
        screen.reject(.duplicate, 1)
      } else {
        screen.receive(consume event, at: now)
      }
      guard isRepeated || screen.refusedCount > refused else { continue }
      accepted.append(events[first..<index])
      first = index + 1
      refused = screen.refusedCount
    }
    accepted.append(events[first...])
    if let position {
      record(
        RecordedBatchPosition(
          source: position.source, sequence: position.sequence,
          events: accepted.reduce(0) { $0 + $1.count }))
    }
    for slice in accepted { log.add(slice, at: now) }
    screen.reduce()
  }

  private func receiveByTimestamp(_ delivery: RoomDelivery, _ part: Range<Int>) {
    let events = delivery.events
    for index in part {
      let event = events[index]
      let instant = time.time(of: event.timestamp)
      guard known.insert(event, at: max(instant, time.now)) else {
        screen.reject(.duplicate, 1)
        continue
      }
      // A frame shows all events of its instant, and is never earlier than an event that it shows.
      var frames = 0
      while frames < Self.framesInGap, let due = screen.nextFrame, max(due, time.now) < instant {
        drawFrame(at: max(due, time.now))
        frames += 1
      }
      time.advance(to: instant)
      screen.receive(event, at: instant)
      if screen.refusedCount == 0 { log.add(events[index...index], at: instant) }
      screen.reduce()
    }
  }

  /// Records that the room has received a batch of a source.
  private func record(_ position: RecordedBatchPosition) {
    known.insert(position)
    log.add(RoomChange(position: position), at: time.now)
  }

  /// Records that the next act is a batch of a source. Returns `false` if the room has received
  /// that batch before.
  package func accept(_ position: BatchPosition) -> Bool {
    guard !known.holds(position) else { return false }
    record(
      RecordedBatchPosition(source: position.source, sequence: position.sequence, events: 0))
    return true
  }

  // MARK: Acts

  /// Performs an act that the host requested by a call, and logs it like an event for replays.
  /// Returns `false` if the screen refused the act.
  func perform(_ payload: LiveEvent.Payload, now: NIODeadline = .now()) -> Bool {
    beginWork()
    time.advance(with: now)
    // The act gets the time of the events, which in a played recording may be in another year.
    let timestamp = screen.eventTime(at: time.now) ?? Timestamp(WallClock.milliseconds())
    // The timestamp is clamped to the range that is valid in a line, so that the recording can be
    // read.
    let limits = EventLimits.timestamps
    let event = LiveEvent(
      timestamp: min(max(timestamp, limits.lowerBound), limits.upperBound), payload: payload)
    guard screen.perform(event, at: time.now) else { return false }
    log.add(act: event, at: time.now)
    drawIfUntimed()
    return true
  }

  func perform(effectEvent event: LiveEvent.Payload) {
    _ = perform(event)
    if case .control(.outcome(let request, _)) = event {
      for body in requests.receiveAnswer(of: request) { body(()) }
    }
  }

  /// Marks sources that did not report their end as ended, so that their last status does not stay
  /// on the screen.
  func endSources(because reason: Text, _ haveEnded: (Text) -> Bool) {
    for source in screen.store.state.sources?.sources ?? [] where haveEnded(source.name) {
      guard let status = source.status, !status.isOver else { continue }
      _ = perform(.source(.state(status.ended(because: reason))))
    }
    log.handOver()
  }

  // MARK: Controllers

  package func addController(
    controls: [String]?, acts: OfferedActs?
  ) -> Result<ControllerRequests.Connection, ControlError> {
    do throws(ControlError) {
      let (controller, connection) = try requests.addController(
        controls: controls, acts: acts, beside: screen.store.state.control.requests)
      begin(controller)
      return .success(connection)
    } catch {
      return .failure(error)
    }
  }

  package func removeController(_ connection: ControllerRequests.Connection) {
    guard requests.remove(connection) else { return }
    _ = perform(.control(.controller(.ended(controller: connection.number))))
    log.handOver()
  }

  private func begin(_ controller: Requests.ConnectedController) {
    let controls = controller.controls?.map { Text($0) }
    _ = perform(
      .control(
        .controller(
          .began(controller: controller.number, controls: controls, acts: controller.acts))))
    log.handOver()
  }

  /// After a replay, drops the recording's controllers and requests, and shows the controllers that
  /// are connected to the room.
  private func resetControllers() {
    guard screen.store.state.control.requests != nil else { return }
    _ = perform(.control(.controller(.ended(controller: nil))))
    for controller in requests.controllers { begin(controller) }
  }

  var hasRequests: Bool {
    screen.store.state.control.requests
      .map { !$0.controllers.isEmpty || !$0.outstanding.isEmpty } ?? false
  }

  // MARK: The room's own recorder

  /// Passes a request to the recorder. With `retries`, the recorder repeats failed attempts until
  /// one succeeds. Calls `completion` with the outcome, possibly immediately or during the
  /// reduction of an action.
  func requestRecording(
    _ wish: RecorderWish, retries: Bool,
    completion: @escaping Waiters<OwnRecorder.Outcome>.Completion
  ) {
    let state = screen.store.state.recorder
    if let refusal = state.refusal(of: wish, in: name) { return completion(.failure(refusal)) }
    recorder.whenEnded((state.work?.attempt ?? 0) + 1, completion)
    perform(.wished(wish: wish, retries: retries))
  }

  /// Applies an input of the recorder. The input is not an event and does not advance a time that
  /// events move, so a recording that begins later still contains everything that happened.
  func perform(_ input: RecorderInput, now: NIODeadline = .now()) {
    beginWork()
    time.advance(with: now)
    // The recorder's effects belong to this room, even while the room plays another room's
    // recording.
    let startsEffects = screen.startsEffects
    screen.startsEffects = true
    screen.send(.recorder(.own(input)))
    screen.startsEffects = startsEffects
    log.add(RoomChange(recorder: input), at: time.now)
    log.handOver()
    if let work = screen.store.state.recorder.work { recordings?.note(work, of: name) }
  }

  /// Applies an input that an effect of the recorder returned, unless the attempt has ended.
  func perform(effectInput input: RecorderInput) {
    if case .ended(let attempt, _) = input, !isAttempting(attempt) { return }
    perform(input)
  }

  /// Whether an attempt of the recorder is in progress.
  func isAttempting(_ attempt: Int) -> Bool {
    screen.store.state.recorder.work?.isAttempting(attempt) ?? false
  }

  func showDisk(answers: Bool) {
    if screen.store.state.recorder.own != nil { perform(.disk(answers: answers)) }
  }

  // MARK: Recordings that are played

  /// Makes the room's time follow a recording that begins at the recorded time `first`. Returns
  /// `false` if another recording is being played.
  func beginReplay(from first: Instant) -> Bool {
    guard !time.isReplaying else { return false }
    time.beginReplay(from: first)
    screen.startsEffects = false
    assembler = StepAssembler()
    known.isReplaying = true
    log.add(RoomChange(replays: true), at: time.now)
    if screen.store.state.analysesChat == true {
      // The recording determines when the chat is analysed.
      analyseChat(false)
      log.add(RoomChange(settings: recordedSettings), at: time.now)
    }
    return true
  }

  /// Plays steps, in order, from a recording or from the room's own log.
  func play(_ steps: [RecordedStep]) {
    guard time.isReplaying else { return }
    beginWork()
    for step in steps {
      guard let input = assembler.add(step) else { continue }
      let instant = time.instant(of: step)
      time.advance(to: instant)
      switch input {
      case .event(let event): play(event, at: instant)
      case .act(let event):
        if screen.perform(event, at: instant) { log.add(act: event, at: instant) }
      case .batch(let events, let position):
        for event in events { play(event, at: instant) }
        if isRestoring { known.insert(position) }
      case .frame(let flush): drawFrame(at: instant, flush: flush)
      case .change(let change, let text, let isCopied):
        if let change { play(change) }
        if isCopied { log.add(change: text, at: instant) }
      }
    }
    checkCounts()
    logRejections()
    log.handOver()
  }

  private func play(_ event: LiveEvent, at instant: Instant) {
    if isRestoring { known.reinsert(event, at: instant) }
    screen.receive(event, at: instant)
    if screen.refusedCount == 0 { log.add([event], at: instant) }
    screen.reduce()
  }

  private func play(_ change: RoomChange) {
    // In a played recording, rejections and the recorder belong to another room, so they are
    // skipped.
    if isRestoring {
      for (reason, count) in change.rejected ?? [:] { screen.reject(reason, count) }
      if let input = change.recorder { screen.send(.recorder(.own(input))) }
      if let replays = change.replays { known.isReplaying = replays }
      if let position = change.position, position.events <= 0 { known.insert(position) }
    }
    guard let recorded = change.settings else { return }
    screen.apply(recorded.policies)
    if let history = recorded.history, screen.store.state.chatHistory != history {
      screen.send(.historyLimited(history))
    }
    analyseChat(recorded.analysesChat == true)
    if change.restartsAnalysis == true { restartAnalysis() }
  }

  /// Ends a complete or abandoned replay, so that the room's time follows the machine's clock
  /// again. Returns the digest of the state after the last step.
  func endReplay(now: NIODeadline = .now()) -> String {
    let digest = StateDigest.text(of: screen)
    time.endReplay()
    screen.startsEffects = true
    assembler = StepAssembler()
    logReplayEnd()
    screen.apply(settings.throttling)
    analyseChat(settings.analysesChat)
    // An analysis that the recording leaves unfinished is abandoned.
    restartAnalysis()
    log.add(
      RoomChange(settings: recordedSettings, restartsAnalysis: true), at: time.now)
    log.handOver()
    time.resume(at: now)
    resetControllers()
    if log.isUnlogged { snapshots?.require(at: now) }
    return digest
  }

  func logReplayEnd() {
    known.isReplaying = false
    log.add(RoomChange(replays: false), at: time.now)
  }
}
