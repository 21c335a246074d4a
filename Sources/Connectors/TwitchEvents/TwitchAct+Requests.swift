import ChatImport
package import JSON
package import LiveEvents
import LiveSources

/// The requests with which Twitch carries out an act, and the meaning of Twitch's answers.
extension TwitchAct {
  package enum Progress: Equatable, Sendable {
    case ended(RequestOutcome)
    /// Twitch has returned information that the act needs. The act continues with this request.
    case next(EventSubRequest)
  }

  /// Returns the first request.
  ///
  /// - Parameters:
  ///   - channel: Twitch's number of the channel.
  ///   - user: Twitch's number of the token's account, which acts.
  package func request(channel: String, user: String) -> EventSubRequest {
    let moderator = [("broadcaster_id", channel), ("moderator_id", user)]
    switch self {
    case .say(let text, let message):
      var body: [JSONName: JSONValue] = [
        "broadcaster_id": .string(channel), "sender_id": .string(user), "message": .string(text),
      ]
      if let message { body["reply_parent_message_id"] = .string(message.text) }
      return .act(.post, "chat/messages", body: .object(body))
    case .announce(let text):
      return .act(.post, "chat/announcements", moderator, body: ["message": .string(text)])
    case .delete(let message):
      return .act(.delete, "moderation/chat", moderator + [("message_id", message.text)])
    case .reviewHeld(let message, let isAllowed):
      return .act(
        .post, "moderation/automod/message",
        body: [
          "user_id": .string(user), "msg_id": .string(message.text),
          "action": isAllowed ? "ALLOW" : "DENY",
        ])
    case .ban(let person, let seconds, let reason):
      var ban: [JSONName: JSONValue] = ["user_id": .string(person.text)]
      if let seconds { ban["duration"] = .integer(Int64(seconds)) }
      if let reason { ban["reason"] = .string(reason) }
      return .act(.post, "moderation/bans", moderator, body: ["data": .object(ban)])
    case .unban(let person):
      return .act(.delete, "moderation/bans", moderator + [("user_id", person.text)])
    case .shoutOut(let person):
      return .act(
        .post, "chat/shoutouts",
        [
          ("from_broadcaster_id", channel), ("to_broadcaster_id", person.text),
          ("moderator_id", user),
        ])
    case .mark(let description):
      var body: [JSONName: JSONValue] = ["user_id": .string(channel)]
      if let description { body["description"] = .string(description) }
      return .act(.post, "streams/markers", body: .object(body))
    case .setTitle(let title): return Self.change(channel, "title", title)
    // Twitch identifies categories by numbers.
    case .setCategory(let name): return .act(.get, "games", [("name", name)])
    case .setChatModes(let settings):
      return .act(.patch, "chat/settings", moderator, body: .object(settings))
    case .setShield(let isOn):
      return .act(.put, "moderation/shield_mode", moderator, body: ["is_active": .bool(isOn)])
    }
  }

  private static func change(
    _ channel: String, _ member: JSONName, _ value: String
  ) -> EventSubRequest {
    .act(.patch, "channels", [("broadcaster_id", channel)], body: [member: .string(value)])
  }

  // MARK: Answers

  /// Returns the act's outcome or next request after an answer. `body` is `null` if the answer is
  /// not JSON.
  package func progress(
    after request: EventSubRequest, status: Int, _ body: JSONValue, channel: String
  ) -> Progress {
    guard (200..<300).contains(status) else { return .ended(refusal(status, body)) }
    switch self {
    case .say: return .ended(Self.outcome(ofMessage: body["data"]?.arrayValue?.first))
    case .setCategory(let name) where request.method == .get:
      guard let id = body["data"]?.arrayValue?.first?["id"]?.word() else {
        return .ended(.refused(reason: "Twitch has no category named \(name.clipped(to: 100))"))
      }
      return .next(Self.change(channel, "game_id", id))
    default: return .ended(.confirmed)
    }
  }

  /// Twitch also answers 200 if it drops a message.
  private static func outcome(ofMessage message: JSONValue?) -> RequestOutcome {
    switch message?["is_sent"]?.boolValue {
    case true?: return .confirmed
    case false?:
      let reason = message?["drop_reason"]
      let text = reason?["message"]?.stringValue ?? reason?["code"]?.stringValue
      return .refused(reason: quoted(text) ?? "Twitch did not send the message")
    case nil: return .unknown("Twitch's answer is not usable")
    }
  }

  private func refusal(_ status: Int, _ body: JSONValue) -> RequestOutcome {
    let message = body["message"]?.stringValue
    if status >= 500 { return .unknown("Twitch answers \(status)") }
    // Twitch names the missing scope.
    if status == 401, Self.isAboutScopes(body), let text = Self.quoted(message) {
      return .refused(reason: "\(text); \(Self.remedy)")
    }
    if status == 404, case .delete = self {
      return .refused(reason: "Twitch deletes only existing messages of the last 6 hours")
    }
    return .refused(reason: Self.quoted(message) ?? "Twitch answers \(status)")
  }

  /// Whether an answer with the status 401 says that the token lacks a scope, so that a renewal of
  /// the token would not help.
  static func isAboutScopes(_ body: JSONValue) -> Bool {
    body["message"]?.word()?.lowercased().contains("scope") == true
  }

  private static func quoted(_ text: String?) -> String? {
    text.flatMap { $0.isEmpty ? nil : "Twitch: " + $0.clipped(to: 200) }
  }
}

extension EventSubRequest {
  fileprivate static func act(
    _ method: Method, _ resource: String, _ query: [(name: String, value: String)] = [],
    body: JSONValue? = nil
  ) -> EventSubRequest {
    let items = query.map { "\($0.name)=\($0.value.inQuery)" }.joined(separator: "&")
    return EventSubRequest(
      method: method, path: "/helix/\(resource)" + (items.isEmpty ? "" : "?" + items), body: body)
  }
}
