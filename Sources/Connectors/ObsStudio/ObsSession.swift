package import JSON
package import LiveEvents
package import LiveSources
package import RateLimiting

/// Monitors OBS and carries out a room's requests: decides which messages to send, and interprets
/// the responses.
///
/// A value type that uses no sockets or clocks: its owner passes in messages and the time, and
/// performs the effects.
package struct ObsSession: SourceSession {
  package enum Effect: Equatable, Sendable {
    /// Connect. Report the result with `opened(_:at:)` or `closed(_:code:reason:at:)`.
    case connect(Int)
    /// Close a connection. The session ignores later events of the connection.
    case close(Int)
    case send(Int, JSONValue)
    case event(ObsEvent, at: Instant)
    case status(SourceStatus)
    case gap(from: Instant, to: Instant, reason: String)
    /// The controls that OBS provides, for which the source receives the room's requests.
    case controls([String])
    case outcome(request: String, RequestOutcome)
    /// OBS permanently refuses the connection, which has been closed.
    case refused(String)
  }

  enum Phase: Sendable {
    /// Waiting to connect again.
    case waiting(until: Instant)
    case connecting
    /// Connected, but not yet accepted by OBS.
    case greeting(deadline: Instant)
    /// Accepted; the complete state has been requested.
    case loading
    case ready
    case over
  }

  /// A request from the room that OBS has not answered or not carried out yet.
  struct Pending: Sendable {
    enum Awaited { case answer, stream, recording }

    var awaited: Awaited
    /// The number of polls that had been sent when OBS answered, or `nil` before the answer.
    var answered: Int?
  }

  static let maximumPending = 256

  let settings: ObsSettings
  var phase: Phase
  private var generator: any RandomNumberGenerator
  private var policy = ReconnectPolicy()
  private(set) var link = 0
  private var openedAt = Instant.origin
  private var liveness: Liveness
  private var lastHeard: Instant
  /// The start of the current outage and its reason. `nil` while connected, and before the first
  /// connection.
  private var gap: (since: Instant, reason: String)?
  private var status = SourceStatus(.connecting)
  /// The reason why no requests arrive from the room, or `nil` if they do.
  private var controllerProblem: String?
  package var effects: [Effect] = []

  private var nextPoll: Instant?
  private(set) var polls = 0
  /// The unanswered poll, with the revisions that stream and recording had when the poll was sent.
  var poll: (id: String, stream: Int, recording: Int)?
  /// The time at which to request the inputs and scenes.
  private var loadAt: Instant?
  private var loads = 0
  /// The identifiers of the unanswered requests for the inputs and scenes, and for the volumes.
  private var loadID: String?
  private var volumesID: String?

  var mixer = ObsMixer()
  var stream = ObsOutput()
  var recording = ObsOutput()
  /// The states last reported to the room.
  var reportedStream: StreamState?
  var reportedRecorder: RecorderState?
  var sentBytes = FallingCounter()
  var sampledAt: Instant?
  var skippedFrames = FallingCounter()
  var pending: [String: Pending] = [:]
  private var unusable = UnusableValueCounts()
  private var pace = StatusPace()
  /// The number of events delivered to the room.
  package private(set) var forwarded = 0

  package init(_ settings: ObsSettings, generator: any RandomNumberGenerator, at now: Instant) {
    self.settings = settings
    self.generator = generator
    phase = .waiting(until: now)
    lastHeard = now
    liveness = Liveness(silence: settings.silence, patience: nil, at: now)
    perform(.status(status))
  }

  mutating func perform(_ effect: Effect) { effects.append(effect) }

  mutating func report(_ event: ObsEvent, at now: Instant) {
    forwarded += 1
    perform(.event(event, at: now))
  }

  // MARK: Time

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? {
    switch phase {
    case .waiting(let time): time
    case .connecting, .over: nil
    case .greeting(let time): time
    case .loading, .ready:
      .earlier(.earlier(nextPoll, loadAt), .earlier(liveness.deadline, pace.deadline))
    }
  }

  /// Performs all actions that are due.
  package mutating func wake(at now: Instant) {
    switch phase {
    case .waiting(let time) where time <= now:
      link += 1
      phase = .connecting
      perform(.connect(link))
    case .greeting(let time) where time <= now: lose("OBS does not answer", at: now)
    case .loading, .ready:
      if liveness.wake(at: now) == .dead { return lose("no sign of life", at: now) }
      if pace.isDue(at: now) { reportUnusable(at: now) }
      if let loadAt, loadAt <= now { load() }
      if let nextPoll, nextPoll <= now { ask(at: now) }
    case .waiting, .connecting, .greeting, .over: break
    }
  }

  // MARK: The connection

  package mutating func opened(_ id: Int, at now: Instant) {
    guard id == link, case .connecting = phase else { return }
    openedAt = now
    phase = .greeting(deadline: now + settings.greeting)
  }

  /// Records that a connection has ended or could not be established. `code` is OBS's close code.
  package mutating func closed(_ id: Int, code: Int?, reason: String, at now: Instant) {
    guard id == link else { return }
    switch code {
    case ObsMessage.CloseCode.wrongPassword?: refuse("OBS does not accept the password")
    case ObsMessage.CloseCode.wrongVersion?:
      refuse("OBS does not support protocol version \(ObsMessage.version)")
    default: lose(reason, at: now)
    }
  }

  private mutating func lose(_ reason: String, at now: Instant) {
    switch phase {
    case .waiting, .over: return
    case .connecting, .greeting, .loading, .ready: break
    }
    if case .ready = phase { gap = gap ?? (lastHeard, reason) }
    perform(.close(link))
    phase = .waiting(until: policy.failed(at: now, using: &generator))
    (nextPoll, loadAt, poll) = (nil, nil, nil)
    pace.cancel()
    mixer.forget()
    stream.forget()
    recording.forget()
    sentBytes = FallingCounter()
    sampledAt = nil
    for request in pending.keys.sorted() { refuse(request, "the connection to OBS was lost") }
    setStatus(SourceStatus(.connecting, reason: reason))
  }

  private mutating func refuse(_ reason: String) {
    if case .over = phase { return }
    phase = .over
    perform(.close(link))
    for request in pending.keys.sorted() { refuse(request, reason) }
    setStatus(SourceStatus(.refused, reason: reason))
    perform(.refused(reason))
  }

  private mutating func setStatus(_ status: SourceStatus) {
    guard status != self.status else { return }
    self.status = status
    perform(.status(status))
  }

  /// Suspends or resumes the detection of a dead connection. It is suspended while the source has
  /// paused reading.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    liveness.suspend(isPaused, at: now)
    if !isPaused, case .greeting = phase { phase = .greeting(deadline: now + settings.greeting) }
  }

  /// Records the reason why no requests arrive from the room, or, with `nil`, that requests can
  /// arrive.
  package mutating func setControllerProblem(_ problem: String?, at now: Instant) {
    controllerProblem = problem
    if case .ready = phase { setLive() }
  }

  private mutating func setLive() {
    let reasons = [controllerProblem, unusable.text].compactMap(\.self).joined(separator: "; ")
    setStatus(
      SourceStatus(
        .live, reason: reasons.isEmpty ? nil : String(reasons.unicodeScalars.prefix(240))))
  }

  /// Counts members of events or responses whose values are unusable.
  mutating func count(misfitsOf data: JSONValue, at now: Instant) {
    let names = ObsMessage.shape.misfits(of: data, named: "data")
    guard !names.isEmpty else { return }
    unusable.add(names)
    reportUnusable(at: now)
  }

  private mutating func reportUnusable(at now: Instant) {
    guard case .ready = phase, pace.mayReport(at: now) else { return }
    setLive()
  }

  /// Sends the delayed status report now, because the source is ending.
  package mutating func finish(at now: Instant) {
    if pace.release() { reportUnusable(at: now) }
  }

  // MARK: Messages

  /// Processes a message from OBS.
  package mutating func receive(_ message: JSONValue, on id: Int, at now: Instant) {
    guard id == link, let number = message["op"]?.integerValue, let data = message["d"] else {
      return
    }
    lastHeard = now
    switch (ObsMessage.Operation(rawValue: number), phase) {
    case (.hello, .greeting): greet(data)
    case (.identified, .greeting):
      phase = .loading
      liveness = Liveness(silence: settings.silence, patience: nil, at: now)
      load()
    case (.event, .loading), (.event, .ready):
      count(misfitsOf: data["eventData"] ?? .null, at: now)
      process(event: data["eventType"]?.word() ?? "", data["eventData"] ?? .null, at: now)
    case (.response, .ready):
      if let response = ObsResponse(data) { process(response, at: now) }
    case (.batchResponse, .loading), (.batchResponse, .ready):
      // Events such as levels arrive without a request, so they do not prove that OBS still
      // responds.
      liveness.heard(at: now)
      let results = (data["results"]?.arrayValue ?? []).compactMap(ObsResponse.init)
      for result in results { count(misfitsOf: result.data, at: now) }
      answered(data["requestId"]?.word() ?? "", results, at: now)
    default: break
    }
  }

  private mutating func greet(_ hello: JSONValue) {
    var answer: String?
    if let requested = hello["authentication"] {
      guard let password = settings.password else {
        return refuse("OBS requires a password; see Tools, WebSocket Server Settings")
      }
      answer = ObsMessage.authentication(
        password: password, salt: requested["salt"]?.stringValue ?? "",
        challenge: requested["challenge"]?.stringValue ?? "")
    }
    perform(.send(link, ObsMessage.identify(answer)))
  }

  private mutating func answered(_ id: String, _ results: [ObsResponse], at now: Instant) {
    if id == poll?.id {
      process(poll: results, at: now)
      policy.receivedUsefulData(at: now, connected: openedAt)
    } else if id == loadID {
      loadID = nil
      loaded(results, at: now)
    } else if id == volumesID {
      volumesID = nil
      for control in mixer.applyVolumes(results) { report(control, at: now) }
      announce()
      if case .loading = phase { becameReady(at: now) }
    }
  }

  // MARK: The complete state

  /// Schedules a request for the inputs and scenes after one was added or removed. The delay
  /// combines several changes.
  mutating func changed(at now: Instant) { loadAt = loadAt ?? now + settings.loading }

  private mutating func load() {
    loadAt = nil
    loads += 1
    let id = "load \(link) \(loads)"
    (loadID, volumesID) = (id, nil)
    perform(
      .send(
        link,
        ObsMessage.batch(
          [("", ObsRequest("GetSceneList")), ("", ObsRequest("GetInputList"))], id: id)))
  }

  private mutating func loaded(_ results: [ObsResponse], at now: Instant) {
    guard results.count == 2, results.allSatisfy(\.isDone) else {
      // OBS accepts connections while it is still loading.
      return changed(at: now)
    }
    mixer.update(scenes: results[0].data, inputs: results[1].data)
    let id = "volumes \(link) \(loads)"
    volumesID = id
    perform(.send(link, ObsMessage.batch(mixer.volumeRequests, id: id)))
  }

  private mutating func becameReady(at now: Instant) {
    phase = .ready
    if let gap {
      self.gap = nil
      perform(.gap(from: gap.since, to: now, reason: gap.reason))
    }
    setLive()
    ask(at: now)
  }

  private mutating func announce() {
    if let controls = mixer.newControls() { perform(.controls(controls)) }
  }

  private mutating func ask(at now: Instant) {
    nextPoll = now + settings.poll
    guard poll == nil else { return }
    polls += 1
    let id = "poll \(link) \(polls)"
    poll = (id, stream.revision, recording.revision)
    perform(
      .send(
        link,
        ObsMessage.batch(
          ["GetStreamStatus", "GetRecordStatus", "GetStats"].map { ("", ObsRequest($0)) }, id: id)))
  }
}
