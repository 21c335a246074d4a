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
    isActNext = false
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
        clock.advance(to: instant)
        play(event, at: instant)
      case .frame(_, let flush): drawFrame(at: instant, flush: flush)
      case .change(let text, _):
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

  /// Takes an event as it was taken: acts are not counted among those that were received.
  private func play(_ event: LiveEvent, at instant: Instant) {
    if exchange(&isActNext, with: false) {
      if screen.perform(event, at: instant) { log?.add(act: event, at: instant) }
    } else {
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
    replayOffset = nil
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
}
