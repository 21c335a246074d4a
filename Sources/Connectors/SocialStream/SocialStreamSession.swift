import ChatImport
package import JSON
package import LiveEvents
package import LiveSources
package import RateLimiting

/// Reads the messages of a Social Stream Ninja session: decides when to connect and which messages
/// count. Also passes on the acts of the room.
///
/// A value type that uses no sockets or clocks: its owner passes in messages and the time, and
/// performs the effects.
package struct SocialStreamSession: ActingSession {
  package enum Effect: Equatable, Sendable {
    /// Connect. Report the result with `opened(_:at:)` or `closed(_:reason:at:)`.
    case connect(Int)
    case close(Int)
    /// Send a ping. Report the reply with `heard(_:at:)`.
    case ping(Int)
    /// Send a command to Social Stream Ninja.
    case send(Int, JSONValue)
    case outcome(request: String, RequestOutcome)
    /// Deliver `count` native lines that belong together, with their line endings.
    case deliver([UInt8], count: Int)
    case status(SourceStatus)
    case gap(from: Instant, to: Instant, reason: String)
  }

  static let silence = Interval.seconds(30)
  static let patience = Interval.seconds(10)

  struct Connection {
    var id: Int
    var openedAt: Instant?
    var liveness: Liveness?
    var lastHeard: Instant
  }

  private var chat: SocialStreamChat
  private var output = NativeLines()
  private var generator: any RandomNumberGenerator
  private var policy = ReconnectPolicy()
  var connection: Connection?
  private var connectAt: Instant?
  private var lastID = 0
  private var isPaused = false
  private var gap: (since: Instant, reason: String)?
  private var status: SourceStatus?
  private var pace = StatusPace()
  let offeredActs: [ActKind]
  /// The reason why no requests arrive from the room, or `nil` if they do.
  private var controllerProblem: String?
  package var effects: [Effect] = []
  /// The number of events delivered to the room.
  package var forwarded: Int { output.lines }
  /// The number of repeated messages.
  package var duplicates: Int { chat.duplicates }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - room: The room that the lines name, or `nil` if they name none.
  ///   - run: The prefix of generated message identifiers, which must differ in each run.
  ///   - acts: The kinds of acts to carry out.
  package init(
    room: String? = nil, run: String, acts: [ActKind] = Self.acts,
    generator: any RandomNumberGenerator, at now: Instant
  ) {
    offeredActs = Self.acts.filter(acts.contains)
    chat = SocialStreamChat(room: room, run: run)
    self.generator = generator
    connectAt = now
    setStatus(SourceStatus(.connecting))
  }

  private mutating func setStatus(_ status: SourceStatus) {
    guard status.state != self.status?.state || status.reason != self.status?.reason else { return }
    var status = status
    status.duplicate = duplicates
    self.status = status
    effects.append(.status(status))
  }

  // MARK: Time

  /// The time at which to call ``wake(at:)``.
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

  /// Suspends or resumes the detection of a dead connection. It is suspended while the source has
  /// paused reading.
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
    setStatus(live)
  }

  package mutating func closed(_ id: Int, reason: String, at now: Instant) {
    guard connection?.id == id else { return }
    end(reason: reason, at: now)
  }

  private mutating func end(reason: String, at now: Instant) {
    // Messages that were in flight when the connection ended may be lost.
    if let connection, connection.openedAt != nil, gap == nil {
      gap = (connection.lastHeard, reason)
    }
    connection = nil
    pace.cancel()
    connectAt = policy.failed(at: now, using: &generator)
    setStatus(SourceStatus(.connecting, reason: reason))
  }

  /// Records that the server has answered a ping.
  package mutating func heard(_ id: Int, at now: Instant) {
    guard connection?.id == id, let openedAt = connection?.openedAt else { return }
    connection?.lastHeard = now
    connection?.liveness?.heard(at: now)
    // An answered ping counts as useful data, because a session may have no messages.
    policy.receivedUsefulData(at: now, connected: openedAt)
  }

  /// Processes a message or an array of messages, received at `time` in milliseconds since 1970.
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

  // MARK: Status reports

  /// Reports the status, but no more often than ``StatusPace`` allows, because peers can change it
  /// at any rate.
  private mutating func update(at now: Instant) {
    guard connection?.openedAt != nil, pace.mayReport(at: now) else { return }
    setStatus(live)
  }

  package mutating func setControllerProblem(_ problem: String?, at now: Instant) {
    controllerProblem = problem
    if connection?.openedAt != nil { setStatus(live) }
  }

  /// Sends the delayed status report now, because the source is ending.
  package mutating func finish(at now: Instant) {
    if pace.release() { update(at: now) }
  }

  private var live: SourceStatus {
    let reasons = [controllerProblem, output.remark].compactMap(\.self)
    var status = SourceStatus(
      .live, reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "))
    status.notShown = output.notShown
    return status
  }
}
