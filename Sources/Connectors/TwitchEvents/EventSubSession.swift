package import ChatImport
package import LiveEvents
package import LiveSources
package import RateLimiting

/// Reads the events of a Twitch channel: decides when to connect, what to request, and which
/// messages count.
///
/// A server session and its subscriptions exist on one connection. When the server requests another
/// connection, the new one is welcomed before the old one is closed. A message that arrives on both
/// connections counts once. After a lost session, the outage is reported and all subscriptions are
/// made again.
///
/// A value type that uses no sockets or clocks: its owner passes in messages, answers and the time,
/// and performs the effects.
package struct EventSubSession: SourceSession {
  package enum Effect: Equatable, Sendable {
    /// Connect. Report the result with `opened(_:at:)` or `closed(_:reason:at:)`.
    case connect(Int, HTTPAddress)
    /// Close a connection. The session ignores later events of the connection.
    case close(Int)
    /// Make a request. Report the result with `answered(_:status:_:reset:at:)` or
    /// `failed(_:reason:mayBeSent:at:)`.
    case ask(Int, EventSubRequest)
    /// Cancel a request, whose answer no longer counts.
    case cancel(Int)
    /// Renew the token. Report the result with `renewed(_:at:)`.
    case renewToken
    case event(EventSub.Notification)
    case viewers(Int)
    case status(SourceStatus)
    case gap(from: Instant, to: Instant, reason: String)
    /// Offer these kinds of act to the room, instead of the previous ones.
    case offer([ActKind])
    /// Report the outcome of an act.
    case outcome(request: String, RequestOutcome)
    /// All reading has ended permanently, and all connections are closed.
    case refused(String)
  }

  struct Connection: Sendable {
    let startedAt: Instant
    /// The time limit for the welcome, or for closing a replaced connection.
    var deadline: Instant?
    var isDraining = false
    /// The detection of a dead connection, which starts with the server's welcome.
    var liveness: Liveness?
    var lastHeard: Instant
    /// The longest round trip. A message may have been in flight for as long as this.
    var roundTrip = Interval.zero

    /// If the connection ends now, all messages sent before this time have arrived.
    var completeUntil: Instant { lastHeard + Interval(nanoseconds: -roundTrip.nanoseconds) }
  }

  enum Subscription: Equatable, Sendable {
    case wanted
    /// The server reports that the subscription exists already, so a subscription of a lost session
    /// blocks this one.
    case conflicting
    case made(String)
    /// The subscription is denied, with the reason.
    case denied(String)
  }

  enum Purpose: Equatable, Sendable {
    case validation
    case channel
    case viewers
    case subscribe(Int, session: String)
    case list(after: String?, page: Int)
    case delete(String)

    /// Whether the request becomes useless when the session is lost.
    var isOfSession: Bool {
      switch self {
      case .validation, .channel, .viewers: false
      case .subscribe, .list, .delete: true
      }
    }
  }

  package let settings: EventSubSettings
  var generator: any RandomNumberGenerator
  var isOver = false

  // The state of connections.
  var lastConnection = 0
  var connections: [Int: Connection] = [:]
  var current: Int?
  var next: Int?
  /// The address to which the server redirects the session, and how long it is valid.
  var replacement: (address: HTTPAddress, until: Instant)?
  var connectAt: Instant?
  var policy = ReconnectPolicy()
  var replacementPolicy = ReconnectPolicy()
  var identifiers = IdentifierMemory()

  // The state of requests.
  var lastRequest = 0
  var outstanding: [Int: Purpose] = [:]
  var queue: [Purpose] = [.validation]
  var retryAt: Instant?
  var requestPolicy = ReconnectPolicy()
  var isRenewing = false
  /// The number of token renewals since Twitch last accepted a token.
  var renewals = 0
  /// The first request with the current token.
  var firstWithToken = 0
  private var validateAt: Instant?
  var pollAt: Instant?

  // The state of acts.
  var acts = PendingActs()
  /// The kinds of act that the room can request.
  var offered: [ActKind] = []
  /// Whether acts wait for a validation of the token, because Twitch has rejected it for an act.
  var isTokenInDoubt = false

  // The state of subscriptions.
  var user: String?
  var channel: String?
  var scopes: Set<String> = []
  /// The identifier of the server's session, or `nil` if there is none.
  var session: String?
  var subscriptions = Array(repeating: Subscription.wanted, count: EventSubType.all.count)
  var conflicts = 0
  var deletions = 0
  var isReady = false
  var gap: (since: Instant, reason: String)?
  private var status = SourceStatus(.connecting)
  /// A human-readable remark about events that were not shown, and the number of these events.
  private var remark: String?
  private var notShown = 0
  /// The reason why no acts arrive from the room.
  private var controllerProblem: String?
  private var pace = StatusPace()
  package var effects: [Effect] = []
  /// The number of events delivered to the room, and of copies that were dropped.
  package internal(set) var forwarded = 0
  package internal(set) var duplicates = 0

  package init(_ settings: EventSubSettings, generator: any RandomNumberGenerator, at now: Instant)
  {
    self.settings = settings
    self.generator = generator
    validateAt = now + settings.validation
    perform(.status(status))
  }

  mutating func perform(_ effect: Effect) { effects.append(effect) }

  mutating func setStatus(_ status: SourceStatus) {
    var status = status
    status.duplicate = duplicates
    status.notShown = notShown
    guard status.state != self.status.state || status.reason != self.status.reason else { return }
    self.status = status
    perform(.status(status))
  }

  // MARK: Time

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? {
    guard !isOver else { return nil }
    var deadline: Instant? = .earlier(
      .earlier(.earlier(connectAt, pace.deadline), acts.deadline),
      .earlier(validateAt, pollAt))
    if canSendActs { deadline = Instant(nanoseconds: .min) }
    if canAsk { deadline = .earlier(deadline, retryAt ?? Instant(nanoseconds: .min)) }
    for connection in connections.values {
      deadline = .earlier(deadline, .earlier(connection.deadline, connection.liveness?.deadline))
    }
    return deadline
  }

  private var canAsk: Bool {
    !isRenewing && !queue.isEmpty && outstanding.count < settings.requests
  }

  /// Performs all actions that are due.
  package mutating func wake(at now: Instant) {
    guard !isOver else { return }
    if let time = validateAt, time <= now {
      validateAt = now + settings.validation
      enqueue(.validation)
    }
    if let time = pollAt, time <= now {
      pollAt = now + settings.poll
      enqueue(.viewers)
    }
    if pace.isDue(at: now) { reportRemark(at: now) }
    // Connections are sorted by creation, so that equal seeds give equal runs.
    for id in connections.keys.sorted() { check(id, at: now) }
    if let time = connectAt, time <= now { connect(at: now) }
    wakeActs(at: now)
    ask(at: now)
  }

  private mutating func check(_ id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    if let deadline = connection.deadline, deadline <= now {
      end(id, reason: connection.isDraining ? "replaced" : "no welcome in time", at: now)
    } else if connections[id]?.liveness?.wake(at: now) == .dead {
      end(id, reason: "no sign of life", at: now)
    }
  }

  // MARK: Requests

  mutating func enqueue(_ purpose: Purpose) {
    if !queue.contains(purpose) { queue.append(purpose) }
  }

  mutating func ask(at now: Instant) {
    if let retryAt, retryAt > now { return }
    retryAt = nil
    while canAsk, !isOver {
      let purpose = queue.removeFirst()
      lastRequest += 1
      outstanding[lastRequest] = purpose
      perform(.ask(lastRequest, request(purpose)))
    }
  }

  private func request(_ purpose: Purpose) -> EventSubRequest {
    switch purpose {
    case .validation: .validation
    case .channel: .channel(settings.channel)
    case .viewers: .stream(of: channel ?? "")
    case .subscribe(let index, let session):
      .subscribe(
        EventSubType.all[index], channel: channel ?? "", user: user ?? "", session: session)
    case .list(let cursor, _): .list(after: cursor)
    case .delete(let id): .delete(id)
    }
  }

  // MARK: Status

  /// Completes the subscription phase when no subscription is pending.
  mutating func settle(at now: Instant) {
    guard session != nil, !subscriptions.contains(.wanted), !subscriptions.contains(.conflicting)
    else { return }
    let isAnyMade = subscriptions.contains { if case .made = $0 { true } else { false } }
    guard isAnyMade else {
      return refuse(missing ?? "Twitch provides none of the channel's events")
    }
    isReady = true
    if let gap {
      self.gap = nil
      perform(.gap(from: gap.since, to: now, reason: gap.reason))
    }
    setLive()
  }

  private mutating func setLive() {
    let reasons = [missing, remark, controllerProblem].compactMap(\.self)
    let reason = reasons.joined(separator: "; ").clipped
    setStatus(SourceStatus(.live, reason: reason.isEmpty ? nil : reason))
  }

  /// Records a human-readable remark about events that were shown only in part or not at all.
  /// `notShown` is the number of events of which nothing was shown.
  package mutating func setRemark(_ remark: String?, notShown: Int, at now: Instant) {
    (self.remark, self.notShown) = (remark, notShown)
    reportRemark(at: now)
  }

  private mutating func reportRemark(at now: Instant) {
    guard pace.mayReport(at: now), status.state == .live else { return }
    setLive()
  }

  /// Records the reason why no acts arrive from the room, or, with `nil`, that acts can arrive.
  package mutating func setControllerProblem(_ problem: String?, at now: Instant) {
    controllerProblem = problem
    if status.state == .live { setLive() }
  }

  /// Sends the delayed status report now, because the source is ending.
  package mutating func finish(at now: Instant) {
    if pace.release() { reportRemark(at: now) }
  }

  /// A human-readable list of unavailable subscriptions.
  private var missing: String? {
    var reasons: [String] = []
    var lacking: Set<String> = []
    for (type, subscription) in zip(EventSubType.all, subscriptions) {
      guard case .denied(let reason) = subscription else { continue }
      if reason == Self.lacksScope {
        lacking.insert(type.scopes.first ?? "")
      } else {
        reasons.append("\(type.name): \(reason)")
      }
    }
    if !lacking.isEmpty {
      reasons.append("the token lacks \(lacking.sorted().joined(separator: ", "))")
    }
    return reasons.isEmpty
      ? nil : String(reasons.joined(separator: "; ").unicodeScalars.prefix(200))
  }

  static let lacksScope = "scope"

  /// Ends the session permanently.
  mutating func refuse(_ reason: String) {
    guard !isOver else { return }
    isOver = true
    for id in connections.keys.sorted() { perform(.close(id)) }
    connections = [:]
    endActs(reason)
    setStatus(SourceStatus(.refused, reason: reason))
    perform(.refused(reason))
  }

  // MARK: Backpressure

  /// Suspends or resumes the detection of dead connections. It is suspended while the source has
  /// paused reading.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    for id in connections.keys.sorted() {
      connections[id]?.liveness?.suspend(isPaused, at: now)
      if connections[id]?.deadline != nil, connections[id]?.isDraining == false {
        setDeadline(of: id, at: now + settings.welcome)
      }
    }
  }
}
