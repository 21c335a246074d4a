import ChatImport
package import JSON
import LiveEvents
import LiveSources
package import RateLimiting

/// The connections to the server, and the messages on them.
extension EventSubSession {
  /// Starts reading the channel's events once the channel's identifier is known.
  mutating func begin(at now: Instant) {
    if pollAt == nil { pollAt = now }
    if current == nil, connectAt == nil { connectAt = now }
  }

  mutating func connect(at now: Instant) {
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

  mutating func setDeadline(of id: Int, at time: Instant) {
    connections[id]?.deadline = time
  }

  /// Records that the connection is established.
  package mutating func opened(_ id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    connections[id]?.roundTrip = now - connection.startedAt
    connections[id]?.lastHeard = now
    setDeadline(of: id, at: now + settings.welcome)
  }

  /// Records that the connection could not be established or is closed.
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
      // The session continues if the new connection is welcomed.
      if next == nil { lose(connection, reason, at: now) } else { setLost(reason) }
    }
    ask(at: now)
  }

  mutating func end(_ id: Int, reason: String, at now: Instant) {
    perform(.close(id))
    closed(id, reason: reason, at: now)
  }

  private mutating func setLost(_ reason: String) {
    setStatus(SourceStatus(.connecting, reason: reason))
  }

  /// Handles the loss of the session.
  private mutating func lose(_ connection: Connection, _ reason: String, at now: Instant) {
    forgetSession()
    replacement = nil
    connectAt = policy.failed(at: now, using: &generator)
    setLost(reason)
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

  /// Processes a message from the server.
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
      process(metadata, payload)
    case "session_reconnect":
      guard id == current, let text = payload["session"]?["reconnect_url"]?.stringValue,
        let address = HTTPAddress(text, .webSocket),
        // An encrypted session must not continue unencrypted.
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
    // The timeout has a margin of a fifth, since the server's timer and ours differ.
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

  /// Follows the server's redirection to another address, after the current connection has lasted
  /// some seconds. Otherwise servers that redirect to each other would be contacted without pause.
  /// Further redirections are ignored until this one has completed.
  private mutating func replace(_ address: HTTPAddress, from id: Int, at now: Instant) {
    guard let connection = connections[id], next == nil, now >= replacement?.until ?? now else {
      return
    }
    let time = max(now, connection.startedAt + ReconnectPolicy.settling)
    replacement = (address, now + settings.grace)
    connectAt = time
    if time == now { connect(at: now) }
  }

  /// Makes the welcomed connection the current one, to which the server has moved the
  /// subscriptions.
  private mutating func takeOver(_ id: Int, at now: Instant) {
    // At most one replaced connection is still read.
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

  private mutating func process(_ metadata: JSONValue, _ payload: JSONValue) {
    guard let identifier = metadata["message_id"]?.stringValue,
      let type = payload["subscription"]?["type"]?.word()
    else { return }
    guard Array(identifier.utf8).withUnsafeBytes({ identifiers.isNew($0) }) else {
      duplicates += 1
      return
    }
    let time = metadata.milliseconds("message_timestamp")
    func forward(_ event: JSONValue, id: String? = nil) {
      forwarded += 1
      perform(.event(EventSub.Notification(type: type, event: event, time: time, id: id)))
    }
    if let event = payload["event"] { forward(event, id: identifier) }
    for element in payload["events"]?.arrayValue ?? [] {
      if let event = element["data"] { forward(event) }
    }
  }
}
