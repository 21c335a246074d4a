import LiveEvents
package import LiveSources
package import RateLimiting

/// Reads Twitch chats: decides which lines to send, when to reconnect, and which received lines
/// count.
///
/// Channels are distributed over links. A link has one connection, which is replaced when the
/// connection is lost or when its server announces its end. When the server announces its end, the
/// new connection joins before the old connection is closed. A line that arrives on both
/// connections counts once. The session records when each channel's outage started, so that it can
/// report the outage later.
///
/// A value type that uses no sockets or clocks: its owner passes in lines and the time, and
/// performs the effects.
package struct TwitchSession: SourceSession {
  package enum Effect: Equatable, Sendable {
    /// Connect. Report the result with `opened(_:at:)` or `closed(_:reason:at:)`.
    case connect(Int)
    /// Close a connection. The session ignores later events of the connection.
    case close(Int)
    case send(Int, String)
    /// Send the password, which is not part of the effect, so that printing effects never reveals
    /// it.
    case authenticate(Int)
    case status(channel: String, SourceStatus)
    case gap(channel: String, from: Instant, to: Instant, reason: String)
    /// Request the messages written in a channel during an outage.
    case history(channel: String, from: Instant, to: Instant)
    /// All reading has ended permanently, and all connections are closed.
    case refused(String)
  }

  struct Link {
    var channels: [String]
    var policy = ReconnectPolicy()
    var connectAt: Instant?
    var current: Int?
    /// The connection that will replace the current one.
    var next: Int?
  }

  struct Channel {
    var status = SourceStatus(.connecting)
    /// The start of the current outage and its reason. `nil` while the channel is joined, and
    /// before the first join.
    var gap: (since: Instant, reason: String)?
    var duplicates = 0
    var backfilled = 0
  }

  package let settings: TwitchSettings
  var generator: any RandomNumberGenerator
  var links: [Link]
  var connections: [Int: TwitchConnection] = [:]
  var channels: [String: Channel]
  var joinBudget: AttemptBudget
  /// The identifiers seen on all links, because a channel may move between links.
  var identifiers = IdentifierMemory()
  /// The lines without identifiers that arrived while connections overlapped. Kept until all lines
  /// in flight have arrived.
  var copies: OverlapCopies?
  private var copiesEnd: Instant?
  var isOver = false
  private var lastID = 0
  package var effects: [Effect] = []
  /// The number of forwarded lines.
  package var forwarded = 0

  /// - Parameter generator: The source of randomness for waits and anonymous names.
  package init(
    _ settings: TwitchSettings, generator: any RandomNumberGenerator, at now: Instant
  ) {
    self.settings = settings
    self.generator = generator
    let size = max(1, settings.channelsPerConnection)
    links = stride(from: 0, to: settings.channels.count, by: size).map {
      var link = Link(channels: Array(settings.channels[$0...].prefix(size)))
      link.connectAt = now
      return link
    }
    channels = Dictionary(
      settings.channels.map { ($0, Channel()) }, uniquingKeysWith: { first, _ in first })
    // The window exceeds Twitch's ten seconds, because the two windows start at different times.
    joinBudget = AttemptBudget(limit: settings.joinsPerTenSeconds, window: .milliseconds(10_500))
    for name in settings.channels { perform(.status(channel: name, SourceStatus(.connecting))) }
  }

  /// The number of lines that arrived repeatedly.
  package var duplicates: Int { channels.values.reduce(0) { $0 + $1.duplicates } }

  mutating func perform(_ effect: Effect) { effects.append(effect) }

  // MARK: Time

  /// The time at which to call ``wake(at:)``. Takes O(number of connections and pending joins).
  package var deadline: Instant? {
    guard !isOver else { return nil }
    var deadline = copiesEnd
    for link in links { deadline = .earlier(deadline, link.connectAt) }
    for connection in connections.values {
      deadline = .earlier(deadline, connection.deadline(settings))
      if !connection.toJoin.isEmpty { deadline = .earlier(deadline, joinBudget.nextAttempt) }
    }
    return deadline
  }

  /// Performs all actions that are due.
  package mutating func wake(at now: Instant) {
    guard !isOver else { return }
    if let copiesEnd, copiesEnd <= now { (copies, self.copiesEnd) = (nil, nil) }
    for index in links.indices {
      guard let time = links[index].connectAt, time <= now else { continue }
      links[index].connectAt = nil
      connect(index, at: now)
    }
    // Connections are sorted by creation, so that equal seeds give equal runs.
    for id in connections.keys.sorted() { check(id, at: now) }
    sendJoins(at: now)
  }

  private mutating func connect(_ link: Int, at now: Instant) {
    lastID += 1
    // Each connection uses a new name, because the server may still hold a lost connection with the
    // previous name.
    let nick =
      settings.account?.name ?? "justinfan\(Int.random(in: 10_000...99_999, using: &generator))"
    connections[lastID] = TwitchConnection(link: link, nick: nick, settings: settings, at: now)
    if links[link].current == nil {
      links[link].current = lastID
    } else {
      links[link].next = lastID
      (copies, copiesEnd) = (copies ?? OverlapCopies(), nil)
    }
    perform(.connect(lastID))
  }

  mutating func setDeadline(of id: Int, at time: Instant) {
    connections[id]?.phaseDeadline = time
  }

  private mutating func check(_ id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    if let deadline = connection.phaseDeadline, deadline <= now {
      switch connection.phase {
      case .connecting: return end(id, reason: "the connection timed out", at: now)
      case .registering:
        guard connection.isWelcome else { return end(id, reason: "no welcome in time", at: now) }
        // The server did not answer the capability requests in time.
        registered(id, at: now)
      case .draining: return end(id, reason: "replaced", at: now)
      case .ready: break
      }
    }
    if case .connecting = connection.phase { return }
    let verdict = connections[id]?.liveness.wake(at: now)
    switch verdict {
    case .dead: return end(id, reason: "no sign of life", at: now)
    case .ask: ping(id, at: now)
    case nil: break
    }
    leaveGhosts(id, at: now)
  }

  /// The PING tokens that check whether a connection is alive, and whether a replaced connection
  /// has sent everything.
  static let lifeToken = "livehost"
  static let drainToken = "livehost-drain"

  private mutating func ping(_ id: Int, _ token: String = lifeToken, at now: Instant) {
    connections[id]?.pinged(at: now)
    perform(.send(id, "PING :\(token)"))
  }

  // MARK: Connections

  /// Records that the connection is established, including TLS.
  package mutating func opened(_ id: Int, at now: Instant) {
    guard let nick = connections[id]?.nick else { return }
    connections[id]?.phase = .registering
    setDeadline(of: id, at: now + settings.registration)
    connections[id]?.openedAt = now
    connections[id]?.heard(at: now)
    connections[id]?.requested = TwitchConnection.capabilities
    perform(.send(id, "CAP REQ :\(TwitchConnection.capabilities.joined(separator: " "))"))
    if settings.account != nil { perform(.authenticate(id)) }
    perform(.send(id, "NICK \(nick)"))
    // Servers other than Twitch's require a USER line.
    perform(.send(id, "USER \(nick) 0 * :\(nick)"))
  }

  /// Records that the connection could not be established or is closed.
  package mutating func closed(_ id: Int, reason: String, at now: Instant) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    leave(connection, id, reason: connection.farewell ?? reason, at: now)
  }

  /// Closes a connection and handles its loss.
  mutating func end(_ id: Int, reason: String, at now: Instant) {
    guard connections[id] != nil else { return }
    perform(.close(id))
    closed(id, reason: reason, at: now)
  }

  private mutating func leave(
    _ connection: TwitchConnection, _ id: Int, reason: String, at now: Instant
  ) {
    for channel in connection.joined.keys.sorted() {
      lose(channel, since: connection.completeUntil, reason: reason)
    }
    let index = connection.link
    if links[index].current == id {
      links[index].current = links[index].next
      links[index].next = nil
    } else if links[index].next == id {
      links[index].next = nil
    } else {
      endOverlap(at: now)
      return
    }
    endOverlap(at: now)
    for channel in links[index].channels { setStatus(.connecting, of: channel, reason) }
    guard links[index].next == nil, links[index].connectAt == nil,
      !links[index].channels.isEmpty
    else { return }
    // Either the connection was lost, or the replacement of an active connection failed.
    let isReplacing = links[index].current.map { connections[$0]?.isLeaving == true } ?? true
    guard isReplacing else { return }
    links[index].connectAt = links[index].policy.failed(at: now, using: &generator)
  }

  /// Records the end of one of two overlapping connections. Copies of its lines may still arrive
  /// for a while.
  private mutating func endOverlap(at now: Instant) {
    let overlaps =
      connections.values.contains { $0.phase.isDraining } || links.contains { $0.next != nil }
    if !overlaps, copies != nil { copiesEnd = now + settings.answer }
  }

  /// Records that a connection no longer receives a channel. An outage begins unless another
  /// connection has joined the channel.
  mutating func lose(_ channel: String, since: Instant, reason: String) {
    guard channels[channel] != nil else { return }
    if let joined = connections.values.compactMap({ $0.joined[channel] }).min() {
      // Lines that were sent before the other connection joined, and did not arrive here, are lost.
      if since < joined {
        perform(.gap(channel: channel, from: since, to: joined, reason: reason))
      }
    } else if channels[channel]?.gap == nil {
      channels[channel]?.gap = (since, reason)
      setStatus(.connecting, of: channel, reason)
    }
  }

  mutating func setStatus(
    _ state: SourceHealth.Connection, of channel: String, _ reason: String? = nil
  ) {
    guard var entry = channels[channel], entry.status.state != .refused else { return }
    if state == .connecting, connections.values.contains(where: { $0.joined[channel] != nil }) {
      return
    }
    var status = SourceStatus(state, reason: reason)
    status.duplicate = entry.duplicates
    status.backfilled = entry.backfilled
    guard status != entry.status else { return }
    entry.status = status
    channels[channel] = entry
    perform(.status(channel: channel, entry.status))
  }

  // MARK: Replacing

  /// Schedules the replacement of a connection whose server has announced its end.
  mutating func replace(_ id: Int, at now: Instant) {
    guard let link = connections[id]?.link, connections[id]?.isLeaving == false else { return }
    connections[id]?.isLeaving = true
    guard links[link].current == id, links[link].next == nil, links[link].connectAt == nil else {
      return
    }
    let jitter = Int64.random(in: 0...settings.reconnectJitter.nanoseconds, using: &generator)
    links[link].connectAt = now + Interval(nanoseconds: jitter)
  }

  /// Makes the new connection of a link the current one, after it has joined all channels.
  mutating func takeOver(_ id: Int, at now: Instant) {
    guard let connection = connections[id], links[connection.link].next == id,
      connection.phase.isReady, connection.toJoin.isEmpty, connection.requestedJoins.isEmpty
    else { return }
    let link = connection.link
    if let old = links[link].current {
      // The server answers the PING only after all lines that it sent before.
      connections[old]?.phase = .draining
      setDeadline(of: old, at: now + settings.drain)
      ping(old, Self.drainToken, at: now)
    }
    links[link].current = id
    links[link].next = nil
    if connection.isLeaving {
      connections[id]?.isLeaving = false
      replace(id, at: now)
    }
  }

  /// Closes a replaced connection that has sent everything.
  mutating func drained(_ id: Int, at now: Instant) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    perform(.close(id))
    // All lines until now have arrived, so nothing is lost. Channels that only this connection had
    // joined are no longer received.
    for channel in connection.joined.keys.sorted()
    where !connections.values.contains(where: { $0.joined[channel] != nil }) {
      lose(channel, since: now, reason: "replaced")
    }
    endOverlap(at: now)
  }

  // MARK: Joining

  private mutating func sendJoins(at now: Instant) {
    for id in connections.keys.sorted() {
      while let waiting = connections[id]?.toJoin, !waiting.isEmpty {
        // Names have up to 25 characters, and a line has at most 510 bytes.
        let count = joinBudget.consume(min(waiting.count, 15), at: now)
        guard count > 0 else { return }
        let channels = waiting.prefix(count)
        connections[id]?.toJoin.removeFirst(count)
        for channel in channels { connections[id]?.requestedJoins[channel] = now }
        perform(.send(id, "JOIN " + channels.map { "#\($0)" }.joined(separator: ",")))
      }
    }
  }

  mutating func registered(_ id: Int, at now: Instant) {
    guard let link = connections[id]?.link else { return }
    connections[id]?.phase = .ready
    connections[id]?.phaseDeadline = nil
    connections[id]?.toJoin = links[link].channels
    sendJoins(at: now)
  }

  mutating func joined(_ channel: String, on id: Int, at now: Instant) {
    guard let requestedAt = connections[id]?.requestedJoins.removeValue(forKey: channel) else {
      // The answer came too late: another connection is already joining the channel.
      if connections[id]?.joined[channel] == nil { perform(.send(id, "PART #\(channel)")) }
      return
    }
    connections[id]?.joined[channel] = now
    let roundTrip = connections[id]?.roundTrip ?? .zero
    connections[id]?.roundTrip = max(roundTrip, now - requestedAt)
    if let gap = channels[channel]?.gap {
      channels[channel]?.gap = nil
      perform(.gap(channel: channel, from: gap.since, to: now, reason: gap.reason))
      if settings.readsHistory {
        perform(.history(channel: channel, from: gap.since, to: now))
      }
    }
    let hasTags = connections[id]?.hasTags == true
    setStatus(
      .live, of: channel, hasTags ? nil : "the server sends no tags: names and badges are missing")
    takeOver(id, at: now)
  }

  /// Only the channels whose JOIN was not answered move to another connection, because this
  /// connection would not answer a second JOIN either.
  private mutating func leaveGhosts(_ id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    let ghosts = connection.requestedJoins.filter { now - $0.value >= settings.join }.keys.sorted()
    guard !ghosts.isEmpty else { return }
    let link = links[connection.link]
    if link.current == id, link.next != nil || link.connectAt != nil {
      // The connection that replaces this one will join the channels.
      for channel in ghosts { connections[id]?.requestedJoins[channel] = nil }
      return
    }
    let reason = "the server did not answer the join"
    if ghosts.count == link.channels.count {
      return end(id, reason: reason, at: now)
    }
    for channel in ghosts { setStatus(.connecting, of: channel, reason) }
    move(ghosts, from: id, at: now)
  }

  /// Moves channels of a connection to a new link.
  mutating func move(_ names: [String], from id: Int, at now: Instant) {
    guard let index = connections[id]?.link else { return }
    for name in names { connections[id]?.requestedJoins[name] = nil }
    links[index].channels.removeAll { names.contains($0) }
    var link = Link(channels: names)
    link.connectAt = link.policy.failed(at: now, using: &generator)
    links.append(link)
    takeOver(id, at: now)
  }

  /// Records that a channel cannot be read at all.
  mutating func refuse(_ channel: String, on id: Int, reason: String, at now: Instant) {
    guard let link = connections[id]?.link, connections[id]?.requestedJoins[channel] != nil else {
      return
    }
    connections[id]?.requestedJoins[channel] = nil
    links[link].channels.removeAll { $0 == channel }
    setStatus(.refused, of: channel, reason)
    if channels.values.allSatisfy({ $0.status.state == .refused }) {
      refuse("#\(channel): \(reason)")
    } else if links[link].channels.isEmpty {
      end(id, reason: reason, at: now)
    } else {
      takeOver(id, at: now)
    }
  }

  /// Ends the session permanently.
  mutating func refuse(_ reason: String) {
    guard !isOver else { return }
    isOver = true
    for id in connections.keys.sorted() { perform(.close(id)) }
    connections = [:]
    for channel in settings.channels { setStatus(.refused, of: channel, reason) }
    perform(.refused(reason))
  }

  // MARK: Backpressure

  /// Suspends or resumes the detection of dead connections. It is suspended while the source has
  /// paused reading.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    for id in connections.keys.sorted() {
      connections[id]?.liveness.suspend(isPaused, at: now)
      guard !isPaused else { continue }
      if connections[id]?.phaseDeadline != nil {
        setDeadline(of: id, at: now + settings.registration)
      }
      let requested = connections[id]?.requestedJoins ?? [:]
      connections[id]?.requestedJoins = requested.mapValues { _ in now }
    }
  }
}

extension TwitchConnection.Phase {
  var isReady: Bool { if case .ready = self { true } else { false } }
  var isDraining: Bool { if case .draining = self { true } else { false } }
}
