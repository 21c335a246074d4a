package import LiveEvents
package import LiveSources
package import RateLimiting

/// Watches a stream on an ingest server: when to ask, and what the answers mean.
///
/// A value without sockets and clocks: its owner passes answers and the time, and carries out the effects.
package struct ServerSession {
  package enum Effect: Equatable, Sendable {
    /// Ask; `answered(_:_:at:)` or `failed(_:_:at:)` tells the result.
    case ask(Int)
    case stream(StreamState, at: Instant)
    case viewers(Int, at: Instant)
    case statistics(StreamStatistics, at: Instant)
    case status(SourceStatus)
    /// The server could not be asked for a time.
    case gap(from: Instant, to: Instant, reason: String)
  }

  private static let interval = Interval.seconds(1)

  /// The stream that is meant; `nil` for the first one that is live.
  private let wanted: String?
  private var policy = ReconnectPolicy()
  private var generator: any RandomNumberGenerator
  private var attempt = 0
  private var isAsking = false
  private var askAt: Instant
  private var isPaused = false
  private var beganAt = Instant.origin
  private var lastHeard: Instant?
  private var failure: String?
  private var status: SourceStatus?
  private var current: String?
  private var told: StreamState?
  private var toldViewers: Int?
  private var sample: (bytes: Int, time: Instant)?
  private var effects: [Effect] = []
  /// Events that were told.
  package private(set) var events = 0

  /// - Parameter generator: for the jitter of waits.
  package init(
    stream: String?, generator: any RandomNumberGenerator, at now: Instant
  ) {
    wanted = stream
    self.generator = generator
    askAt = now
    say(SourceStatus(.connecting))
  }

  /// What is to be done, in this order. Ask after each call.
  package mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  private mutating func say(_ status: SourceStatus) {
    guard status != self.status else { return }
    self.status = status
    effects.append(.status(status))
  }

  private mutating func tell(_ effect: Effect) {
    events += 1
    effects.append(effect)
  }

  /// When to call ``wake(at:)``.
  package var deadline: Instant? { isAsking || isPaused ? nil : askAt }

  package mutating func wake(at now: Instant) {
    guard !isAsking, !isPaused, askAt <= now else { return }
    if failure == nil, lastHeard == nil { beganAt = now }
    isAsking = true
    attempt += 1
    effects.append(.ask(attempt))
  }

  /// The source has stopped or resumed.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    self.isPaused = isPaused
    if !isPaused { askAt = max(askAt, now) }
  }

  package mutating func failed(_ attempt: Int, _ reason: String, at now: Instant) {
    guard isAsking, attempt == self.attempt else { return }
    isAsking = false
    if failure == nil { failure = reason }
    sample = nil
    askAt = policy.failed(at: now, using: &generator)
    say(SourceStatus(.connecting, reason: reason))
  }

  package mutating func answered(_ attempt: Int, _ streams: [ServedStream], at now: Instant) {
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
    say(SourceStatus(.live))
    take(stream(of: streams), at: now)
  }

  /// The stream that is meant: the one that was live before stays the one.
  private func stream(of streams: [ServedStream]) -> ServedStream? {
    let live = streams.filter(\.isLive)
    if let wanted { return live.first { $0.name == wanted } }
    return live.first { $0.name == current } ?? live.min { $0.name < $1.name }
  }

  private mutating func take(_ stream: ServedStream?, at now: Instant) {
    guard let stream else {
      current = nil
      sample = nil
      let state: StreamState = told == nil || told == .waiting ? .waiting : .ended
      if told != state { tell(.stream(state, at: now)) }
      told = state
      toldViewers = nil
      return
    }
    if stream.name != current { sample = nil }
    current = stream.name
    if told != .live { tell(.stream(.live, at: now)) }
    told = .live
    if let viewers = stream.viewers, viewers != toldViewers {
      toldViewers = viewers
      tell(.viewers(viewers, at: now))
    }
    var statistics = StreamStatistics(
      framesPerSecond: stream.framesPerSecond,
      roundTripMilliseconds: stream.roundTripMilliseconds)
    if let bytes = stream.bytes {
      // A counter that falls belongs to a new connection of the encoder.
      if let sample, now > sample.time, bytes >= sample.bytes {
        // Bytes per nanosecond, as kilobits per second.
        statistics.bitrateKbps =
          Double(bytes - sample.bytes) * 8e6 / Double((now - sample.time).nanoseconds)
      }
      sample = (bytes, now)
    }
    if statistics != StreamStatistics() { tell(.statistics(statistics, at: now)) }
  }
}
