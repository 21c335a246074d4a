import ChatImport
package import JSON
import LiveEvents
import LiveSources
package import RateLimiting

/// Processes the answers to requests.
extension EventSubSession {
  /// The maximum number of searches for conflicting subscriptions. The maximum number of deleted
  /// subscriptions allows several of each type.
  private static let maximumConflicts = 3
  private static let maximumDeletions = 100
  /// The maximum number of consecutive rejections of tokens that Twitch itself has issued.
  private static let maximumRenewals = 3
  /// The maximum number of pages in the list of subscriptions, which has at most 900 entries, 100
  /// on each page.
  private static let maximumPages = 10

  /// The outcome of an attempt to renew the token.
  package enum Renewal: Equatable, Sendable {
    case done
    /// The renewal is rejected permanently.
    case refused(String)
    case failed(String)
  }

  /// Processes the answer to a request.
  ///
  /// - Parameters:
  ///   - body: The JSON of the answer, or `null` if the answer is not JSON.
  ///   - reset: The time at which Twitch accepts requests again, if Twitch names one.
  package mutating func answered(
    _ id: Int, status: Int, _ body: JSONValue, reset: Instant? = nil, at now: Instant
  ) {
    guard !isOver else { return }
    if acts.isSent(id) {
      actAnswered(id, status: status, body, reset: reset, at: now)
      return ask(at: now)
    }
    guard let purpose = outstanding.removeValue(forKey: id) else { return }
    switch status {
    case 401: unauthorized(purpose, id)
    case 429, 500...: retry(purpose, "Twitch answers \(status)", at: now)
    default:
      // The waits are reset only after a valid answer: after any other answer, the same request may
      // follow again.
      guard process(status, body, for: purpose, at: now) else { break }
      requestPolicy = ReconnectPolicy()
      // Other requests may reject a token although its validation succeeded.
      if purpose != .validation { renewals = 0 }
    }
    ask(at: now)
  }

  /// Records that a request failed or was not answered.
  ///
  /// - Parameter mayBeSent: Whether Twitch may have received the request.
  package mutating func failed(
    _ id: Int, reason: String, mayBeSent: Bool = true, at now: Instant
  ) {
    guard !isOver else { return }
    if acts.isSent(id) { return actFailed(id, reason: reason, mayBeSent: mayBeSent) }
    guard let purpose = outstanding.removeValue(forKey: id) else { return }
    retry(purpose, reason, at: now)
    ask(at: now)
  }

  /// Processes the outcome of a token renewal.
  package mutating func renewed(_ renewal: Renewal, at now: Instant) {
    guard !isOver, isRenewing else { return }
    isRenewing = false
    switch renewal {
    case .done:
      renewals += 1
      firstWithToken = lastRequest + 1
      // The permissions of the new token may differ.
      enqueue(.validation)
    case .refused(let reason): refuse(reason)
    case .failed:
      retryAt = requestPolicy.failed(at: now, using: &generator)
    }
    ask(at: now)
  }

  private mutating func unauthorized(_ purpose: Purpose, _ id: Int) {
    queue.insert(purpose, at: 0)
    // A rejection of the previous token says nothing about the current token.
    guard !isRenewing, id >= firstWithToken else { return }
    guard renewals < Self.maximumRenewals else {
      return refuse("Twitch does not accept the token")
    }
    isRenewing = true
    perform(.renewToken)
  }

  private mutating func retry(_ purpose: Purpose, _ reason: String, at now: Instant) {
    // The next poll repeats the viewer count request.
    if purpose == .viewers { return }
    queue.insert(purpose, at: 0)
    if retryAt ?? now <= now { retryAt = requestPolicy.failed(at: now, using: &generator) }
    if !isReady { setStatus(SourceStatus(.connecting, reason: reason)) }
  }

  /// Processes an answer. Returns whether the answer is valid for the request.
  private mutating func process(
    _ status: Int, _ body: JSONValue, for purpose: Purpose, at now: Instant
  ) -> Bool {
    switch purpose {
    case .validation:
      guard status == 200, let user = body["user_id"]?.word(), !user.isEmpty else {
        refuse("the token does not belong to a user account")
        return false
      }
      self.user = user
      scopes = Set((body["scopes"]?.arrayValue ?? []).compactMap { $0.word() })
      isTokenInDoubt = false
      offerActs()
      sendActs()
      if channel == nil { enqueue(.channel) }
    case .channel:
      // Twitch answers 400 to invalid channel names.
      guard status == 400 || status == 200 && body["data"]?.arrayValue != nil else {
        retry(purpose, "Twitch answers \(status)", at: now)
        return false
      }
      guard let id = body["data"]?.arrayValue?.first?["id"]?.word() else {
        refuse("the channel \(settings.channel) does not exist")
        return false
      }
      channel = id
      offerActs()
      begin(at: now)
    case .viewers:
      guard let count = body["data"]?.arrayValue?.first?["viewer_count"]?.integerValue, count >= 0
      else { break }
      perform(.viewers(Int(count)))
    case .subscribe(let index, let session):
      subscribed(index, session, status, body)
      resolveConflicts()
      settle(at: now)
      return status < 300 || status == 409
    case .list(_, let page):
      listed(body, page: page)
      settle(at: now)
    case .delete: resolved()
    }
    return status < 300
  }

  // MARK: Subscribing

  mutating func subscribe(at now: Instant) {
    guard let session else { return }
    for (index, type) in EventSubType.all.enumerated() where subscriptions[index] == .wanted {
      if type.scopes.isEmpty || type.scopes.contains(where: scopes.contains) {
        enqueue(.subscribe(index, session: session))
      } else {
        subscriptions[index] = .denied(Self.lacksScope)
      }
    }
    ask(at: now)
  }

  private mutating func subscribed(
    _ index: Int, _ session: String, _ status: Int, _ body: JSONValue
  ) {
    switch status {
    case 200..<300:
      let id = body["data"]?.arrayValue?.first?["id"]?.word()
      subscriptions[index] = .made(id ?? "")
    case 409: subscriptions[index] = .conflicting
    case _ where session != self.session:
      // The session's identifier has changed because the session moved to another connection.
      if let session = self.session { enqueue(.subscribe(index, session: session)) }
    default:
      let text = body["message"]?.stringValue ?? "Twitch answers \(status)"
      subscriptions[index] = .denied(String(text.unicodeScalars.prefix(80)))
    }
  }

  private var isSubscribing: Bool {
    let isOfSession: (Purpose) -> Bool = \.isOfSession
    return outstanding.values.contains(where: isOfSession) || queue.contains(where: isOfSession)
  }

  /// Resolves conflicts after all answers have arrived. Twitch still holds subscriptions of a lost
  /// session, which block new ones.
  private mutating func resolveConflicts() {
    guard subscriptions.contains(.conflicting), !isSubscribing else { return }
    conflicts += 1
    guard conflicts <= Self.maximumConflicts else {
      for index in subscriptions.indices where subscriptions[index] == .conflicting {
        subscriptions[index] = .denied("Twitch reports that the subscription already exists")
      }
      return
    }
    enqueue(.list(after: nil, page: 1))
  }

  private mutating func listed(_ body: JSONValue, page: Int) {
    for entry in body["data"]?.arrayValue ?? [] {
      guard let id = entry["id"]?.word(), let type = entry["type"]?.word(),
        entry["condition"]?["broadcaster_user_id"]?.word() == channel,
        let index = EventSubType.all.firstIndex(where: { $0.name == type }),
        subscriptions[index] == .conflicting,
        let holder = entry["transport"]?["session_id"]?.word()
      else { continue }
      if holder == session {
        // Twitch reports a conflict with our own subscription, since the answer to the first
        // request was lost.
        subscriptions[index] = .made(id)
      } else if deletions < Self.maximumDeletions {
        deletions += 1
        enqueue(.delete(id))
      }
    }
    if let cursor = body["pagination"]?["cursor"]?.word(atMost: 1024), !cursor.isEmpty,
      page < Self.maximumPages
    {
      enqueue(.list(after: cursor, page: page + 1))
    }
    resolved()
  }

  /// Subscribes again after the conflicting subscriptions are deleted.
  private mutating func resolved() {
    guard !isSubscribing, let session else { return }
    for index in subscriptions.indices where subscriptions[index] == .conflicting {
      enqueue(.subscribe(index, session: session))
    }
  }

  // MARK: Revocations

  mutating func revoked(_ subscription: JSONValue, at now: Instant) {
    guard let type = subscription["type"]?.word(),
      let index = EventSubType.all.firstIndex(where: { $0.name == type })
    else { return }
    let reason = subscription["status"]?.stringValue ?? "?"
    subscriptions[index] = .denied("revoked, " + String(reason.unicodeScalars.prefix(40)))
    settle(at: now)
  }
}

extension JSONValue {
  /// Returns an RFC 3339 timestamp as milliseconds since 1970.
  func milliseconds(_ name: String) -> Int? {
    self[name]?.stringValue.flatMap(PlatformTime.milliseconds)
  }
}
