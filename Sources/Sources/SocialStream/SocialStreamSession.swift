package import JSON
import LiveEvents
package import LiveSources
import PlatformFormats
package import RateLimiting

/// Reads the stream of a session of Social Stream Ninja: when to connect, and which messages count.
///
/// A value without sockets and clocks: its owner passes messages and the time, and carries out the effects.
package struct SocialStreamSession {
  package enum Effect: Equatable, Sendable {
    /// Connect; `opened(_:at:)` or `closed(_:reason:at:)` tells the result.
    case connect(Int)
    case close(Int)
    /// Ask for a sign of life; `heard(_:at:)` reports it.
    case ping(Int)
    /// Native lines, each with its end, which belong together.
    case deliver([UInt8], count: Int)
    case status(SourceStatus)
    /// Nothing was heard for a time.
    case gap(from: Instant, to: Instant, reason: String)
  }

  static let silence = Interval.seconds(30)
  static let patience = Interval.seconds(10)

  private struct Connection {
    var id: Int
    var openedAt: Instant?
    var liveness: Liveness?
    var lastHeard: Instant
  }

  private var chat: SocialStreamChat
  private var output = NativeLines()
  private var generator: any RandomNumberGenerator
  private var policy = ReconnectPolicy()
  private var connection: Connection?
  private var connectAt: Instant?
  private var lastID = 0
  private var isPaused = false
  private var gap: (since: Instant, reason: String)?
  private var status: SourceStatus?
  private var pace = StatusPace()
  private var effects: [Effect] = []
  /// Events that were told.
  package var told: Int { output.lines }
  /// Copies of messages.
  package var duplicates: Int { chat.duplicates }

  /// - Parameters:
  ///   - room: the room of the lines; `nil` leaves it open.
  ///   - run: begins the identifiers of messages that have none; another one for each run.
  ///   - generator: for the jitter of waits.
  package init(
    room: String? = nil, run: String, generator: any RandomNumberGenerator, at now: Instant
  ) {
    chat = SocialStreamChat(room: room, run: run)
    self.generator = generator
    connectAt = now
    say(SourceStatus(.connecting))
  }

  /// What is to be done, in this order. Ask after each call.
  package mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  private mutating func say(_ status: SourceStatus) {
    guard status.state != self.status?.state || status.reason != self.status?.reason else { return }
    var status = status
    status.duplicate = duplicates
    self.status = status
    effects.append(.status(status))
  }

  // MARK: Time

  /// When to call ``wake(at:)``.
  package var deadline: Instant? {
    .earlier(.earlier(connectAt, connection?.liveness?.deadline), pace.deadline)
  }

  package mutating func wake(at now: Instant) {
    if pace.isDue(at: now) { update(at: now) }
    if let time = connectAt, time <= now {
      connectAt = nil
      lastID += 1
      connection = Connection(id: lastID, lastHeard: now)
      effects.append(.connect(lastID))
    }
    guard let id = connection?.id, let verdict = connection?.liveness?.wake(at: now) else { return }
    switch verdict {
    case .ask: effects.append(.ping(id))
    case .dead:
      effects.append(.close(id))
      end(reason: "no sign of life", at: now)
    }
  }

  /// The source has stopped or resumed reading.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    self.isPaused = isPaused
    connection?.liveness?.suspend(isPaused, at: now)
  }

  // MARK: The connection

  package mutating func opened(_ id: Int, at now: Instant) {
    guard connection?.id == id else { return }
    connection?.openedAt = now
    connection?.liveness = Liveness(silence: Self.silence, patience: Self.patience, at: now)
    if isPaused { connection?.liveness?.suspend(true, at: now) }
    connection?.lastHeard = now
    if let gap { effects.append(.gap(from: gap.since, to: now, reason: gap.reason)) }
    gap = nil
    say(live)
  }

  package mutating func closed(_ id: Int, reason: String, at now: Instant) {
    guard connection?.id == id else { return }
    end(reason: reason, at: now)
  }

  private mutating func end(reason: String, at now: Instant) {
    // What was under way when it was last heard of may be lost.
    if let connection, connection.openedAt != nil, gap == nil {
      gap = (connection.lastHeard, reason)
    }
    connection = nil
    pace.cancel()
    connectAt = policy.failed(at: now, using: &generator)
    say(SourceStatus(.connecting, reason: reason))
  }

  /// A sign of life has come.
  package mutating func heard(_ id: Int, at now: Instant) {
    guard connection?.id == id, let openedAt = connection?.openedAt else { return }
    connection?.lastHeard = now
    connection?.liveness?.heard(at: now)
    // An answered ping is all that a session has in which nobody writes.
    policy.receivedUsefulData(at: now, connected: openedAt)
  }

  /// A message has come, or several at once.
  ///
  /// - Parameter time: milliseconds since 1970.
  package mutating func receive(
    _ message: JSONValue, on id: Int, at now: Instant, time: Int
  ) {
    guard connection?.id == id else { return }
    heard(id, at: now)
    let (lines, unknown) = (output.lines, output.unknown)
    for message in message.arrayValue ?? [message] {
      chat.translate(message, at: time, into: &output)
    }
    if output.lines > lines {
      effects.append(.deliver(output.bytes, count: output.lines - lines))
      output.bytes = []
    }
    if output.unknown != unknown { update(at: now) }
  }

  // MARK: What is shown

  /// Says how it is doing, but not as often as others can change it.
  private mutating func update(at now: Instant) {
    guard connection?.openedAt != nil, pace.mayReport(at: now) else { return }
    say(live)
  }

  /// Reports what was held back: the source ends.
  package mutating func finish(at now: Instant) {
    if pace.release() { update(at: now) }
  }

  private var live: SourceStatus {
    var status = SourceStatus(.live, reason: output.remark)
    status.notShown = output.notShown
    return status
  }
}
