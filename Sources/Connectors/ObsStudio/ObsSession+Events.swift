import JSON
import LiveEvents
import LiveSources
import RateLimiting

/// Processes the events of OBS and the results of polls.
extension ObsSession {
  mutating func process(event type: String, _ data: JSONValue, at now: Instant) {
    switch type {
    case "StreamStateChanged":
      guard let state = ObsOutput.State(event: data["outputState"]?.word() ?? "") else {
        return
      }
      stream.apply(event: state)
      reportStream(byPoll: false, at: now)
    case "RecordStateChanged":
      guard let state = ObsOutput.State(event: data["outputState"]?.word() ?? "") else {
        return
      }
      recording.apply(event: state)
      reportRecorder(byPoll: false, at: now)
    case "InputVolumeMeters":
      for meter in mixer.meters(data) { report(meter, at: now) }
    case "InputVolumeChanged":
      let input = data["inputName"]?.word() ?? ""
      if let event = mixer.volume(of: input, data) { report(event, at: now) }
    case "InputMuteStateChanged":
      let input = data["inputName"]?.word() ?? ""
      if let event = mixer.muting(of: input, data) { report(event, at: now) }
    case "CurrentProgramSceneChanged":
      guard case .string? = data["sceneName"] else { return }
      for event in mixer.scene(data["sceneName"]?.word()) { report(event, at: now) }
    case "InputCreated", "InputRemoved", "InputNameChanged", "SceneCreated", "SceneRemoved",
      "SceneNameChanged", "CurrentSceneCollectionChanged":
      changed(at: now)
    default: break
    }
  }

  // MARK: Polls

  mutating func process(poll results: [ObsResponse], at now: Instant) {
    guard let polled = poll else { return }
    poll = nil
    let byType = Dictionary(
      results.filter(\.isDone).map { ($0.type, $0.data) }, uniquingKeysWith: { first, _ in first })
    if let status = byType["GetStreamStatus"], let isActive = status["outputActive"]?.boolValue {
      let isReconnecting = status["outputReconnecting"]?.boolValue ?? false
      stream.apply(
        poll: isActive ? (isReconnecting ? .reconnecting : .running) : .stopped,
        askedAt: polled.stream)
      reportStream(byPoll: true, at: now)
      if stream.state.isActive { sample(status, byType["GetStats"], at: now) }
    }
    if let status = byType["GetRecordStatus"], let isActive = status["outputActive"]?.boolValue {
      let isPaused = status["outputPaused"]?.boolValue ?? false
      recording.apply(
        poll: isActive ? (isPaused ? .paused : .running) : .stopped, askedAt: polled.recording)
      reportRecorder(byPoll: true, at: now)
      if recording.state.isActive, let bytes = status["outputBytes"]?.countValue,
        let duration = status["outputDuration"]?.countValue
      {
        report(.recorded(bytes: bytes, milliseconds: duration), at: now)
      }
    }
  }

  private mutating func sample(_ status: JSONValue, _ stats: JSONValue?, at now: Instant) {
    var statistics = StreamStatistics(
      framesPerSecond: stats?["activeFps"]?.numberValue.flatMap { $0 >= 0 ? $0 : nil },
      congestion: status["outputCongestion"]?.numberValue.map { min(max($0, 0), 1) })
    if let bytes = status["outputBytes"]?.countValue {
      let added = sentBytes.add(bytes)
      if let added, let sampledAt, now > sampledAt {
        // One byte per nanosecond is 8e6 kilobits per second.
        statistics.bitrateKbps = Double(added) * 8e6 / Double((now - sampledAt).nanoseconds)
      }
      sampledAt = now
    }
    if let skipped = status["outputSkippedFrames"]?.countValue {
      skippedFrames.add(skipped)
      statistics.droppedFrames = skippedFrames.total
    }
    if statistics != StreamStatistics() { report(.statistics(statistics), at: now) }
  }

  // MARK: Stream and recording

  private mutating func reportStream(byPoll: Bool, at now: Instant) {
    let state: StreamState
    switch stream.state {
    case .running, .paused: state = .live
    case .reconnecting: state = .paused
    case .stopped: state = reportedStream == nil || reportedStream == .waiting ? .waiting : .ended
    case .unknown, .starting, .stopping: return
    }
    if state != reportedStream {
      if state == .live, reportedStream != .paused { restartStatistics() }
      reportedStream = state
      report(.stream(state), at: now)
    }
    if let event = mixer.streams(stream.state.isActive) { report(event, at: now) }
    settle(
      .stream, isRunning: stream.state.isActive, byPoll: byPoll,
      "the stream did not start; OBS gives no reason")
  }

  private mutating func restartStatistics() {
    sentBytes = FallingCounter()
    skippedFrames = FallingCounter()
    sampledAt = nil
  }

  private mutating func reportRecorder(byPoll: Bool, at now: Instant) {
    let state: RecorderState
    switch recording.state {
    case .starting: state = .starting
    case .running, .reconnecting: state = .recording
    case .paused: state = .paused
    case .stopping: state = .stopping
    // Only an event proves that a recording ended properly. A killed OBS sends none.
    case .stopped: state = wasCutOff ? .failed : .idle
    case .unknown: return
    }
    if state != reportedRecorder {
      reportedRecorder = state
      report(.recorder(state), at: now)
    }
    guard recording.state == .running || recording.state == .stopped else { return }
    settle(
      .recording, isRunning: recording.state == .running, byPoll: byPoll,
      "the recording did not start; OBS gives no reason")
  }

  /// Whether a recording was running when the connection to OBS was lost, but is no longer running.
  private var wasCutOff: Bool {
    guard recording.hasUnknownEnd else { return false }
    switch reportedRecorder {
    case .recording?, .paused?, .starting?, .stopping?, .failed?: return true
    case .idle?, nil: return false
    }
  }
}
