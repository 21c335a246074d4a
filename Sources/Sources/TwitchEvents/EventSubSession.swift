package import JSON
import LiveEvents
package import LiveSources
package import PlatformFormats
package import RateLimiting

/// Reads what happens on a channel of Twitch: when to connect, what to ask for, and which messages count.
///
/// A session of the server lives on one connection, and its subscriptions with it. When the server asks for
/// another connection, that one is welcomed before the old one is left, and what both send counts once. When a
/// session is lost, everything is subscribed to anew, and the time between is told as a gap. A value without
/// sockets and clocks: its owner passes messages, answers and the time, and carries out the effects.
package struct EventSubSession {
  package enum Effect: Equatable, Sendable {
    /// Connect; `opened(_:at:)` or `closed(_:reason:at:)` tells the result.
    case connect(Int, HTTPAddress)
    /// Close a connection, of which the session wants to know nothing any more.
    case close(Int)
    /// Ask; `answered(_:status:_:at:)` or `failed(_:reason:at:)` tells the result.
    case ask(Int, EventSubRequest)
    /// Get another token; `renewed(_:at:)` tells the result.
    case renewToken
    case event(EventSub.Notification)
    case viewers(Int)
    case status(SourceStatus)
    /// Nothing was heard for a time.
    case gap(from: Instant, to: Instant, reason: String)
    /// Nothing more can be read, and trying again would not help. All connections are closed.
    case refused(String)
  }

  struct Connection: Sendable {
    let startedAt: Instant
    /// When it must be welcomed, or when a replaced one is left.
    var deadline: Instant?
    var isDraining = false
    /// After the welcome.
    var liveness: Liveness?
    var lastHeard: Instant
    /// How long the way there and back took at most: a message may have been under way as long.
    var roundTrip = Interval.zero

    /// Up to when everything that the server sent has arrived, if the connection ends now.
    var completeUntil: Instant { lastHeard + Interval(nanoseconds: -roundTrip.nanoseconds) }
  }

  /// Where a subscription stands.
  enum Subscription: Equatable, Sendable {
    case wanted
    /// The server says that it exists, so that of a session that is lost is in the way.
    case conflicting
    case made(String)
    /// It cannot be had, for a reason.
    case denied(String)
  }

  /// What a request is for.
  enum Purpose: Equatable, Sendable {
    case validation
    case channel
    case viewers
    case subscribe(Int, session: String)
    case list(after: String?, page: Int)
    case delete(String)

    /// Whether it is of no use once the session is lost.
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

  // Connections
  private var lastConnection = 0
  var connections: [Int: Connection] = [:]
  var current: Int?
  /// The connection that is to replace the current one.
  private var next: Int?
  /// Where the server wants to be called instead, and until when.
  private var replacement: (address: HTTPAddress, until: Instant)?
  private var connectAt: Instant?
  private var policy = ReconnectPolicy()
  private var replacementPolicy = ReconnectPolicy()
  private var identifiers = IdentifierMemory()

  // Requests
  var lastRequest = 0
  var outstanding: [Int: Purpose] = [:]
  var queue: [Purpose] = [.validation]
  /// Before it nothing is asked.
  var retryAt: Instant?
  var requestPolicy = ReconnectPolicy()
  var isRenewing = false
  /// How often the token was renewed since one was accepted.
  var renewals = 0
  /// The first request with the present token.
  var firstWithToken = 0
  private var validateAt: Instant?
  private var pollAt: Instant?

  // Subscriptions
  var user: String?
  var channel: String?
  var scopes: Set<String> = []
  /// The session of the server; `nil` while there is none.
  var session: String?
  var subscriptions = Array(repeating: Subscription.wanted, count: EventSubType.all.count)
  var conflicts = 0
  var deletions = 0
  var isReady = false
  private var gap: (since: Instant, reason: String)?
  private var status = SourceStatus(.connecting)
  /// What was not shown, for people, and how much that is.
  private var remark: String?
  private var notShown = 0
  private var pace = StatusPace()
  private var effects: [Effect] = []
  /// Events that were told, and copies that were not.
  package private(set) var told = 0
  package private(set) var duplicates = 0

  /// - Parameter generator: for the jitter of waits.
  package init(_ settings: EventSubSettings, generator: any RandomNumberGenerator, at now: Instant)
  {
    self.settings = settings
    self.generator = generator
    validateAt = now + settings.validation
    perform(.status(status))
  }

  /// What is to be done, in this order. Ask after each call.
  package mutating func takeEffects() -> [Effect] {
    guard !effects.isEmpty else { return [] }
    defer { effects = [] }
    return effects
  }

  mutating func perform(_ effect: Effect) { effects.append(effect) }

  mutating func say(_ status: SourceStatus) {
    var status = status
    status.duplicate = duplicates
    status.notShown = notShown
    guard status.state != self.status.state || status.reason != self.status.reason else { return }
    self.status = status
    perform(.status(status))
  }

  // MARK: Time

  /// When to call ``wake(at:)``.
  package var deadline: Instant? {
    guard !isOver else { return nil }
    var deadline: Instant? = .earlier(
      .earlier(connectAt, pace.deadline), .earlier(validateAt, pollAt))
    if canAsk { deadline = .earlier(deadline, retryAt ?? Instant(nanoseconds: .min)) }
    for connection in connections.values {
      deadline = .earlier(deadline, .earlier(connection.deadline, connection.liveness?.deadline))
    }
    return deadline
  }

  private var canAsk: Bool {
    !isRenewing && !queue.isEmpty && outstanding.count < settings.requests
  }

  /// Does what is due.
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
    if pace.isDue(at: now) { sayRemark(at: now) }
    // In the order in which they were made, so that equal seeds give equal runs.
    for id in connections.keys.sorted() { check(id, at: now) }
    if let time = connectAt, time <= now { connect(at: now) }
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

  // MARK: Connections

  /// Who the channel is has become known: its events may be read.
  mutating func begin(at now: Instant) {
    if pollAt == nil { pollAt = now }
    if current == nil, connectAt == nil { connectAt = now }
  }

  private mutating func connect(at now: Instant) {
    connectAt = nil
    if let replacement, replacement.until > now, current != nil {
      next = open(replacement.address, at: now)
    } else if current == nil {
      replacement = nil
      current = open(settings.address, at: now)
    }
  }

  private mutating func open(_ address: HTTPAddress, at now: Instant) -> Int {
    lastConnection += 1
    connections[lastConnection] = Connection(
      startedAt: now, deadline: now + settings.welcome + settings.welcome, lastHeard: now)
    perform(.connect(lastConnection, address))
    return lastConnection
  }

  private mutating func setDeadline(of id: Int, at time: Instant) {
    connections[id]?.deadline = time
  }

  /// The connection is made.
  package mutating func opened(_ id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    connections[id]?.roundTrip = now - connection.startedAt
    connections[id]?.lastHeard = now
    setDeadline(of: id, at: now + settings.welcome)
  }

  /// The connection could not be made or is closed.
  package mutating func closed(_ id: Int, reason: String, at now: Instant) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    if id == next {
      next = nil
      guard let replacement, current != nil else {
        if current == nil { lose(connection, reason, at: now) }
        return
      }
      let time = replacementPolicy.failed(at: now, using: &generator)
      connectAt = time < replacement.until ? time : nil
    } else if id == current {
      current = nil
      if isReady, gap == nil { gap = (connection.completeUntil, reason) }
      isReady = false
      // Its session lives on if the new connection is welcomed.
      if next == nil { lose(connection, reason, at: now) } else { sayLost(reason) }
    }
    ask(at: now)
  }

  private mutating func end(_ id: Int, reason: String, at now: Instant) {
    perform(.close(id))
    closed(id, reason: reason, at: now)
  }

  private mutating func sayLost(_ reason: String) {
    say(SourceStatus(.connecting, reason: reason))
  }

  /// The session is lost.
  private mutating func lose(_ connection: Connection, _ reason: String, at now: Instant) {
    forgetSession()
    replacement = nil
    connectAt = policy.failed(at: now, using: &generator)
    sayLost(reason)
  }

  private mutating func forgetSession() {
    session = nil
    queue.removeAll(where: \.isOfSession)
    for (id, purpose) in outstanding where purpose.isOfSession { outstanding[id] = nil }
    subscriptions = Array(repeating: .wanted, count: subscriptions.count)
    conflicts = 0
    deletions = 0
  }

  // MARK: Messages

  /// Takes a message of the server.
  package mutating func receive(_ message: JSONValue, on id: Int, at now: Instant) {
    guard connections[id] != nil, let metadata = message["metadata"] else { return }
    connections[id]?.lastHeard = now
    connections[id]?.liveness?.heard(at: now)
    let payload = message["payload"] ?? .null
    switch metadata["message_type"]?.word() {
    case "session_welcome": welcomed(id, payload["session"] ?? .null, at: now)
    case "session_keepalive": useful(id, at: now)
    case "notification":
      useful(id, at: now)
      take(metadata, payload)
    case "session_reconnect":
      guard id == current, let text = payload["session"]?["reconnect_url"]?.stringValue,
        let address = HTTPAddress(text, .webSocket),
        // What was said in private is not repeated in public.
        address.isEncrypted || !settings.address.isEncrypted
      else { break }
      replace(address, from: id, at: now)
    case "revocation": revoked(payload["subscription"] ?? .null, at: now)
    default: break
    }
    ask(at: now)
  }

  private mutating func useful(_ id: Int, at now: Instant) {
    guard isReady, id == current, let connection = connections[id] else { return }
    policy.receivedUsefulData(at: now, connected: connection.startedAt)
  }

  private mutating func welcomed(_ id: Int, _ session: JSONValue, at now: Instant) {
    guard id == next || id == current, let name = session["id"]?.word(),
      connections[id]?.liveness == nil
    else { return }
    replacementPolicy = ReconnectPolicy()
    let keepalive = min(max(session["keepalive_timeout_seconds"]?.integerValue ?? 10, 1), 600)
    // Some more, since the server's timer is not ours.
    connections[id]?.liveness = Liveness(
      silence: .milliseconds(keepalive * 1_200), patience: nil, at: now)
    connections[id]?.deadline = nil
    if id == next {
      self.session = name
      takeOver(id, at: now)
    } else if id == current {
      forgetSession()
      self.session = name
      subscribe(at: now)
    }
  }

  /// The server wants to be called elsewhere. Its connection lasts some seconds first: servers that send their
  /// clients to each other would otherwise be called without a pause. While one wish is followed, others do not
  /// count.
  private mutating func replace(_ address: HTTPAddress, from id: Int, at now: Instant) {
    guard let connection = connections[id], next == nil, now >= replacement?.until ?? now else {
      return
    }
    let time = max(now, connection.startedAt + ReconnectPolicy.settling)
    replacement = (address, now + settings.grace)
    connectAt = time
    if time == now { connect(at: now) }
  }

  /// The new connection of the session is welcomed; subscriptions have moved to it.
  private mutating func takeOver(_ id: Int, at now: Instant) {
    // One that is still read is enough.
    for id in connections.keys.sorted() where connections[id]?.isDraining == true {
      end(id, reason: "replaced", at: now)
    }
    if let old = current {
      connections[old]?.isDraining = true
      setDeadline(of: old, at: now + settings.drain)
      connections[old]?.liveness = nil
    }
    current = id
    next = nil
    replacement = nil
    settle(at: now)
  }

  private mutating func take(_ metadata: JSONValue, _ payload: JSONValue) {
    guard let identifier = metadata["message_id"]?.stringValue,
      let type = payload["subscription"]?["type"]?.word()
    else { return }
    guard Array(identifier.utf8).withUnsafeBytes({ identifiers.isNew($0) }) else {
      duplicates += 1
      return
    }
    let time = metadata.milliseconds("message_timestamp")
    func tell(_ event: JSONValue, id: String? = nil) {
      told += 1
      perform(.event(EventSub.Notification(type: type, event: event, time: time, id: id)))
    }
    if let event = payload["event"] { tell(event, id: identifier) }
    for element in payload["events"]?.arrayValue ?? [] {
      if let event = element["data"] { tell(event) }
    }
  }

  /// Everything that can be had is subscribed to.
  mutating func settle(at now: Instant) {
    guard session != nil, !subscriptions.contains(.wanted), !subscriptions.contains(.conflicting)
    else { return }
    let isAnyMade = subscriptions.contains { if case .made = $0 { true } else { false } }
    guard isAnyMade else {
      return refuse(missing ?? "Twitch gives none of the channel's events")
    }
    isReady = true
    if let gap {
      self.gap = nil
      perform(.gap(from: gap.since, to: now, reason: gap.reason))
    }
    sayLive()
  }

  private mutating func sayLive() {
    let reasons = [missing, remark].compactMap(\.self)
    let reason = reasons.joined(separator: "; ").clipped
    say(SourceStatus(.live, reason: reason.isEmpty ? nil : reason))
  }

  /// Some of what was told was not shown, or only in part.
  ///
  /// - Parameters:
  ///   - remark: what that is, for people.
  ///   - notShown: the number of events of which nothing was shown.
  package mutating func note(_ remark: String?, notShown: Int, at now: Instant) {
    (self.remark, self.notShown) = (remark, notShown)
    sayRemark(at: now)
  }

  private mutating func sayRemark(at now: Instant) {
    guard pace.mayReport(at: now), status.state == .live else { return }
    sayLive()
  }

  /// Reports what was held back: the source ends.
  package mutating func finish(at now: Instant) {
    if pace.release() { sayRemark(at: now) }
  }

  /// What cannot be had, for people.
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

  /// Everything ends.
  mutating func refuse(_ reason: String) {
    guard !isOver else { return }
    isOver = true
    for id in connections.keys.sorted() { perform(.close(id)) }
    connections = [:]
    say(SourceStatus(.refused, reason: reason))
    perform(.refused(reason))
  }

  // MARK: Backpressure

  /// The source has stopped reading or reads again. While it does not, silence says nothing.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    for id in connections.keys.sorted() {
      connections[id]?.liveness?.suspend(isPaused, at: now)
      if connections[id]?.deadline != nil, connections[id]?.isDraining == false {
        setDeadline(of: id, at: now + settings.welcome)
      }
    }
  }
}
