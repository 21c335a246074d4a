import Composable
import HostFeature
import HostScreen
import LiveEvents
import NIOCore
import RateLimiting
import RecorderFeature
import Recordings

extension Room {
  /// Makes the room's time follow a recording whose first step is at `first`. A room that was just
  /// opened adopts the recorded times; any other continues from its own time.
  ///
  /// Returns `false` if a recording is already being played.
  func beginReplay(from first: Instant) -> Bool {
    guard replayOffset == nil else { return false }
    replayOffset = max(0, clock.now.nanoseconds - first.nanoseconds)
    (isActNext, partOfBatch) = (false, nil)
    known.isReplaying = true
    log?.addChange(RoomChange(replays: true), at: clock.now)
    if screen.store.state.analysesChat == true {
      // The recording says when that is on.
      analyseChat(false)
      log?.addChange(RoomChange(settings: recordedSettings), at: clock.now)
    }
    return true
  }

  /// Takes steps of the recording, in order.
  func play(_ steps: [RecordedStep]) {
    guard let offset = replayOffset else { return }
    activity.beginReducing(trace, in: name)
    for step in steps {
      let instant = Self.instant(step, offset)
      switch step {
      case .event(let event, _):
        if partOfBatch != nil {
          playInBatch(event, at: instant)
        } else {
          clock.advance(to: instant)
          play(event, at: instant)
        }
      case .frame(_, let flush):
        partOfBatch = nil
        drawFrame(at: instant, flush: flush)
      case .change(let text, _):
        partOfBatch = nil
        clock.advance(to: instant)
        // Unknown changes come from a later version; the rest can still be played.
        let change = RoomChange(text: text)
        if let change { play(change) }
        // What looks like a mark of the log comes from elsewhere, and must not get there.
        if change?.isLocal != true, !isActNext, LogMark(step) == nil {
          log?.addChange(text, at: instant)
        }
      }
    }
    logRejections()
    log?.handOver()
  }

  /// A batch of which not all events were played yet.
  struct PartOfBatch {
    let position: RecordedBatchPosition
    var events: [LiveEvent] = []
  }

  /// Takes the events of a batch once all of them are there. What follows a part of a batch is not an event.
  private func playInBatch(_ event: LiveEvent, at instant: Instant) {
    partOfBatch?.events.append(event)
    guard let part = partOfBatch, part.events.count >= part.position.events else { return }
    partOfBatch = nil
    clock.advance(to: instant)
    for event in part.events { play(event, at: instant) }
    if isRestoring { known.note(part.position) }
  }

  /// Takes an event as it was taken: acts are not counted among those that were received.
  private func play(_ event: LiveEvent, at instant: Instant) {
    if exchange(&isActNext, with: false) {
      guard screen.perform(event, at: instant) else { return }
      isDriven = true
      log?.add(act: event, at: instant)
    } else {
      if isRestoring { known.repeatTaking(event, at: instant) }
      screen.receive(event, at: instant)
      if screen.refusedCount == 0 { log?.add([event], at: instant) }
      screen.reduce()
    }
  }

  /// The room's time of a step: in a recording from elsewhere it may be later than any room's.
  private static func instant(_ step: RecordedStep, _ offset: Int64) -> Instant {
    let (sum, overflow) = step.instant.nanoseconds.addingReportingOverflow(offset)
    return overflow ? RoomClock.latest : min(Instant(nanoseconds: sum), RoomClock.latest)
  }

  private func play(_ change: RoomChange) {
    isActNext = change.isAct == true
    // Those of a recording that is played are not rejected here, and its recorder is another one.
    if isRestoring {
      for (reason, count) in change.rejected ?? [:] { screen.reject(reason, count) }
      if let input = change.recorder { screen.send(.recorder(.own(input))) }
      if let replays = change.replays { known.isReplaying = replays }
    }
    if let position = change.position {
      if position.events > 0 {
        partOfBatch = PartOfBatch(position: position)
      } else if isRestoring {
        known.note(position)
      }
    }
    guard let recorded = change.settings else { return }
    screen.apply(recorded.policies)
    if let history = recorded.history, screen.store.state.chatHistory != history {
      screen.send(.historyLimited(history))
    }
    analyseChat(recorded.analysesChat == true)
    if change.restartsAnalysis == true { restartAnalysis() }
  }

  /// Ends or abandons the replay: the room's time follows the machine's again. Returns the digest
  /// of the state to which the recording led.
  func endReplay(now: NIODeadline = .now()) -> String {
    let digest = StateDigest.text(of: screen)
    (replayOffset, partOfBatch) = (nil, nil)
    noteReplayEnd()
    screen.apply(settings.throttling)
    analyseChat(settings.analysesChat)
    // What the recording leaves open is given up.
    restartAnalysis()
    log?.addChange(
      RoomChange(settings: recordedSettings, restartsAnalysis: true), at: clock.now)
    log?.handOver()
    clock.resume(machine: now.machineTime)
    resetSurfaces()
    if isUnlogged { keeper?.require(at: now) }
    return digest
  }

  private func noteReplayEnd() {
    known.isReplaying = false
    log?.addChange(RoomChange(replays: false), at: clock.now)
  }

  /// Ends, in the log, a replay that the last run of the daemon did not end.
  func endInterruptedReplay() {
    guard known.isReplaying else { return }
    noteReplayEnd()
    log?.handOver()
  }
}
