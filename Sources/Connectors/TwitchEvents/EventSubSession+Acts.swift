import JSON
import LiveEvents
package import LiveSources
package import RateLimiting

/// Carries out the room's acts. Acts and other requests use the same token, but acts do not wait
/// for the other requests.
extension EventSubSession: ActingSession {
  package mutating func carryOut(_ request: ActRequest, at now: Instant) {
    guard !acts.contains(request.identifier) else { return }
    do throws(TwitchAct.Refusal) {
      try add(request, at: now)
      sendActs()
    } catch {
      perform(.outcome(request: request.identifier, .refused(reason: error.reason)))
    }
  }

  private mutating func add(_ request: ActRequest, at now: Instant) throws(TwitchAct.Refusal) {
    guard let channel, let user, !isOver else {
      throw TwitchAct.Refusal(reason: "the source is not connected to Twitch")
    }
    let kind = request.act.kind
    guard offered.contains(kind) else {
      let scope = TwitchAct.scope(of: kind)
      let reason =
        if !settings.acts.contains(kind) {
          "the source's configuration does not allow this"
        } else if scopes.contains(scope) {
          "only the channel's owner can do this"
        } else { TwitchAct.lacks(scope) }
      throw TwitchAct.Refusal(reason: reason)
    }
    let act = try TwitchAct(request.act)
    let isAdded = acts.add(
      act, act.request(channel: channel, user: user), for: request.identifier,
      until: now + settings.act)
    guard isAdded else {
      throw TwitchAct.Refusal(reason: "too many acts are waiting for Twitch")
    }
  }

  package mutating func withdraw(_ identifier: String) {
    if let id = acts.withdraw(identifier) { perform(.cancel(id)) }
  }

  private mutating func end(_ ends: [PendingActs.End]) {
    for one in ends {
      if let id = one.cancelled { perform(.cancel(id)) }
      perform(.outcome(request: one.identifier, one.outcome))
    }
  }

  /// Offers the acts that the token allows, if they have changed.
  mutating func offerActs() {
    guard let channel else { return }
    let allowed =
      isOver
      ? []
      : TwitchAct.allowed(by: scopes, isOwner: channel == user)
        .filter { settings.acts.contains($0) }
    guard allowed != offered else { return }
    offered = allowed
    perform(.offer(allowed))
  }

  var canSendActs: Bool { !isRenewing && !isTokenInDoubt && acts.canSend }

  mutating func sendActs() {
    while canSendActs, let request = acts.send(lastRequest + 1) {
      lastRequest += 1
      perform(.ask(lastRequest, request))
    }
  }

  /// Processes the answer to an act.
  mutating func actAnswered(
    _ id: Int, status: Int, _ body: JSONValue, reset: Instant?, at now: Instant
  ) {
    let step = acts.answered(
      id, status: status, body, reset: reset, channel: channel ?? "", at: now)
    switch step {
    case .end(let ended)?:
      end([ended])
      if status < 300 { renewals = 0 }
    // If the act was sent with the previous token, the new token is not in doubt. Otherwise the
    // validation decides whether to renew the token: a rejected act alone must not end the session.
    case .wait(checksToken: true)? where !isRenewing && id >= firstWithToken:
      isTokenInDoubt = true
      enqueue(.validation)
    case .wait?, nil: break
    }
    sendActs()
  }

  /// Ends an act that has no answer.
  mutating func actFailed(_ id: Int, reason: String, mayBeSent: Bool) {
    if let ended = acts.failed(id, reason: reason, mayBeSent: mayBeSent) { end([ended]) }
    sendActs()
  }

  mutating func wakeActs(at now: Instant) {
    end(acts.expire(at: now))
    sendActs()
  }

  /// Ends all acts when the session ends.
  mutating func endActs(_ reason: String) {
    end(acts.endAll(reason))
    offerActs()
  }
}
