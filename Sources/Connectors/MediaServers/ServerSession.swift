package import LiveEvents
package import LiveSources
package import RateLimiting

/// Monitors a stream on an ingest server: decides when to poll, and interprets the responses. Also
/// schedules the acts that the room asks the server to carry out.
///
/// A value type that uses no sockets or clocks: its owner passes in answers and the time, and
/// performs the effects.
package struct ServerSession: ActingSession {
  package enum Effect: Equatable, Sendable {
    /// Poll the server. Report the result with `answered(_:_:at:)` or `failed(_:_:at:)`.
    case ask(Int)
    /// Send an act to the server. Report the result with `carriedOut(_:_:)`.
    case carryOut(ActRequest)
    case outcome(request: String, RequestOutcome)
    case stream(StreamState, at: Instant)
    case viewers(Int, at: Instant)
    case statistics(StreamStatistics, at: Instant)
    case status(SourceStatus)
    case gap(from: Instant, to: Instant, reason: String)
  }

  private static let interval = Interval.seconds(1)
  /// How long a worker's response remains valid: 10 seconds multiplied by the number of workers,
  /// but at least 30 seconds. The server chooses at random which worker responds.
  private static let memory = (least: Interval.seconds(30), each: Interval.seconds(10))

  private struct Worker {
    var streams: [ServedStream]
    var heard: Instant
    /// The last byte count of the monitored stream.
    var sample: (name: String, bytes: Int, time: Instant)?
  }

  /// The name of the requested stream. `nil` selects the first live stream.
  private let requestedStream: String?
  private let namesStream: Bool
  private var policy = ReconnectPolicy()
  private var generator: any RandomNumberGenerator
  private var attempt = 0
  private var isAsking = false
  private var askAt: Instant
  private var isPaused = false
  private var beganAt = Instant.origin
  var lastHeard: Instant?
  var failure: String?
  private var status: SourceStatus?
  private var current: String?
  private var reported: StreamState?
  private var reportedViewers: Int?
  private var workers: [String: Worker] = [:]
  var watched: SourceStatus?
  private var hadOthers = false
  private var unusable = UnusableValueCounts()
  /// The part of `unusable` that has been reported.
  private var reportedUnusable = UnusableValueCounts()
  private var pace = StatusPace()
  let offeredActs: [ActKind]
  var acts = ActQueue()
  /// The reason why no requests arrive from the room, or `nil` if they do.
  var controllerProblem: String?
  package var effects: [Effect] = []
  /// The number of events delivered to the room.
  package private(set) var forwarded = 0

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - namesStream: Whether the status names the monitored stream.
  ///   - acts: The kinds of acts that the server carries out.
  package init(
    stream: String?, namesStream: Bool = true, acts: [ActKind] = [],
    generator: any RandomNumberGenerator, at now: Instant
  ) {
    requestedStream = stream
    self.namesStream = namesStream
    offeredActs = acts
    self.generator = generator
    askAt = now
    setStatus(SourceStatus(.connecting))
  }

  private mutating func setStatus(_ status: SourceStatus) {
    guard status != self.status else { return }
    self.status = status
    effects.append(.status(status))
  }

  private mutating func report(_ effect: Effect) {
    forwarded += 1
    effects.append(effect)
  }

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? { isAsking || isPaused ? nil : askAt }

  package mutating func wake(at now: Instant) {
    guard !isAsking, !isPaused, askAt <= now else { return }
    if failure == nil, lastHeard == nil { beganAt = now }
    isAsking = true
    attempt += 1
    effects.append(.ask(attempt))
  }

  /// Pauses or resumes polling.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    self.isPaused = isPaused
    if !isPaused { askAt = max(askAt, now) }
  }

  package mutating func failed(_ attempt: Int, _ reason: String, at now: Instant) {
    guard isAsking, attempt == self.attempt else { return }
    isAsking = false
    if failure == nil { failure = reason }
    for worker in workers.keys { workers[worker]?.sample = nil }
    askAt = policy.failed(at: now, using: &generator)
    setStatus(SourceStatus(.connecting, reason: reason))
  }

  package mutating func answered(_ attempt: Int, _ answer: ServerAnswer, at now: Instant) {
    guard isAsking, attempt == self.attempt else { return }
    isAsking = false
    askAt = now + Self.interval
    if let failure {
      if let lastHeard { effects.append(.gap(from: lastHeard, to: now, reason: failure)) }
      self.failure = nil
      beganAt = now
    }
    lastHeard = now
    policy.receivedUsefulData(at: now, connected: beganAt)
    let worker = answer.worker ?? ""
    var newest = Worker(streams: answer.streams, heard: now)
    newest.sample = workers[worker]?.sample
    workers[worker] = newest
    let memory = max(Self.memory.least, Self.memory.each * Int64(workers.count))
    workers = workers.filter { now - $0.value.heard <= memory }
    unusable.add(answer.unusable)
    let live = Set(workers.values.flatMap { $0.streams.filter(\.isLive).map(\.name) })
    let name = stream(of: live)
    reportChoice(name, of: live, at: now)
    reportStream(name, from: worker, at: now)
  }

  /// Returns the requested stream. If no stream was requested, keeps the current stream while it is
  /// live, and otherwise selects the first live stream.
  private func stream(of live: Set<String>) -> String? {
    if let requestedStream {
      // Users may omit nginx's application name or the start of a path.
      return live.contains(requestedStream)
        ? requestedStream : live.filter { $0.hasSuffix("/\(requestedStream)") }.min()
    }
    return current.flatMap { live.contains($0) ? $0 : nil } ?? live.min()
  }

  /// Reports the name of the monitored stream, and whether other streams are live.
  private mutating func reportChoice(_ name: String?, of live: Set<String>, at now: Instant) {
    let others = live.subtracting([name].compactMap { $0 })
    // On a server with many streams, reporting every change of other streams would flood the room.
    guard watched == nil || name != current || others.isEmpty == hadOthers || failure != nil else {
      return setLive(watched, at: now)
    }
    hadOthers = !others.isEmpty
    let names =
      others.sorted().prefix(4).joined(separator: ", ") + (others.count > 4 ? ", ..." : "")
    var parts: [String] = []
    if let name { parts.append("watching \(name)") }
    if name == nil, let requestedStream { parts.append("\(requestedStream) is not live") }
    if !others.isEmpty {
      parts.append(
        "also live: \(names)"
          + (requestedStream == nil ? " (server.stream or --stream chooses)" : ""))
    }
    let isNamed = namesStream && !parts.isEmpty
    // The daemon rejects longer reasons.
    let reason = String(parts.joined(separator: "; ").unicodeScalars.prefix(60 * 4))
    watched = SourceStatus(.live, reason: isNamed && !live.isEmpty ? reason : nil)
    setLive(watched, at: now)
  }

  /// - Parameter choice: The status that names the monitored stream.
  mutating func setLive(_ choice: SourceStatus?, at now: Instant) {
    if unusable != reportedUnusable, pace.mayReport(at: now) { reportedUnusable = unusable }
    let reasons = [choice?.reason, controllerProblem, reportedUnusable.text].compactMap(\.self)
      .joined(separator: "; ")
    setStatus(
      SourceStatus(
        .live, reason: reasons.isEmpty ? nil : String(reasons.unicodeScalars.prefix(60 * 4))))
  }

  private mutating func reportStream(_ name: String?, from worker: String, at now: Instant) {
    guard let name else {
      current = nil
      let state: StreamState = reported == nil || reported == .waiting ? .waiting : .ended
      if reported != state { report(.stream(state, at: now)) }
      reported = state
      reportedViewers = nil
      return
    }
    current = name
    if reported != .live { report(.stream(.live, at: now)) }
    reported = .live
    // Each worker counts only the viewers connected to it.
    let counts = workers.values.compactMap { worker in
      worker.streams.first { $0.name == name }?.viewers
    }
    let viewers = counts.reduce(0) { min($0 + $1, 1 << 40) }
    if !counts.isEmpty, viewers != reportedViewers {
      reportedViewers = viewers
      report(.viewers(viewers, at: now))
    }
    guard let stream = workers[worker]?.streams.first(where: { $0.name == name && $0.isLive })
    else { return }
    var statistics = StreamStatistics(
      framesPerSecond: stream.framesPerSecond,
      roundTripMilliseconds: stream.roundTripMilliseconds)
    if let bytes = stream.bytes {
      // A byte count lower than the last one belongs to a new connection of the encoder.
      if let sample = workers[worker]?.sample, sample.name == name, now > sample.time,
        bytes >= sample.bytes
      {
        // One byte per nanosecond is 8e6 kilobits per second.
        statistics.bitrateKbps =
          Double(bytes - sample.bytes) * 8e6 / Double((now - sample.time).nanoseconds)
      } else {
        statistics.bitrateKbps = stream.bitrateKbps
      }
      workers[worker]?.sample = (name, bytes, now)
    } else {
      statistics.bitrateKbps = stream.bitrateKbps
    }
    if statistics != StreamStatistics() { report(.statistics(statistics, at: now)) }
  }
}
