import JSON

/// A scripted EventSub server: its sessions, their subscriptions, and its answers to requests. The
/// script determines its errors.
struct ScriptedEventSub {
  struct Subscription {
    let id: String
    let type: String
    let condition: JSONValue
    var session: String
  }

  static let token = 7
  /// The number of the valid token.
  var validToken = ScriptedEventSub.token
  var scopes = [
    "user:read:chat", "moderator:read:followers", "channel:read:polls", "channel:read:redemptions",
  ]
  /// Types that the account may not subscribe to, although the token allows them.
  var forbidden: Set<String> = []
  /// Answers to the first requests for the channel.
  var lookups: [(status: Int, body: JSONValue)] = []
  /// The number of further requests that are rejected as unauthorized, although their token is
  /// valid.
  var unauthorized = 0
  /// The account of the token. The channel's owner is account 42.
  var account = "42"
  /// The messages and bans that were carried out, in order.
  private(set) var performed: [String] = []
  private(set) var subscriptions: [Subscription] = []
  /// Sessions with a lost connection, which the server keeps for a while.
  private(set) var dead: Set<String> = []
  private(set) var faults: [String] = []
  private(set) var conflicts = 0
  private var last = 0

  mutating func newSession() -> String {
    last += 1
    return "session-\(last)"
  }

  func has(_ session: String, _ type: String) -> Subscription? {
    subscriptions.first { $0.session == session && $0.type == type }
  }

  /// Records that the connection of a session is lost. The subscriptions of the session stay until
  /// ``forget(_:)``.
  mutating func lost(_ session: String) { dead.insert(session) }

  mutating func forget(_ session: String) { subscriptions.removeAll { $0.session == session } }

  mutating func revoke(_ type: String) { subscriptions.removeAll { $0.type == type } }

  // MARK: Requests

  /// - Parameter token: The number of the token in the request.
  mutating func answer(
    _ method: String, _ path: String, _ body: JSONValue?, token: Int
  ) -> (status: Int, body: JSONValue) {
    if path.hasPrefix("/helix"), unauthorized > 0 {
      unauthorized -= 1
      return (401, ["message": "invalid access token"])
    }
    guard token == validToken else { return (401, ["message": "invalid access token"]) }
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    switch (method, parts[0]) {
    case ("get", "/oauth2/validate"):
      return (
        200,
        [
          "client_id": "client", "login": "ada", "user_id": .string(account),
          "scopes": .array(scopes.map { .string($0) }), "expires_in": 5_000,
        ]
      )
    case ("get", "/helix/users"):
      return lookups.popLast() ?? (200, ["data": [["id": "42", "login": "ada"]]])
    case ("get", "/helix/streams"): return (200, ["data": [["viewer_count": 17]]])
    case ("get", "/helix/eventsub/subscriptions"):
      return (200, ["data": .array(subscriptions.map(\.report)), "pagination": .object([:])])
    case ("delete", "/helix/eventsub/subscriptions"):
      let id = parts.last.map { String($0.dropFirst(3)) } ?? ""
      subscriptions.removeAll { $0.id == id }
      return (204, .null)
    case ("post", "/helix/eventsub/subscriptions"): return subscribe(body ?? .null)
    case ("post", "/helix/chat/messages"):
      performed.append("say \(body?["message"]?.stringValue ?? "?")")
      return (200, ["data": [["message_id": "m", "is_sent": true]]])
    case ("post", "/helix/moderation/bans"):
      performed.append("ban \(body?["data"]?["user_id"]?.stringValue ?? "?")")
      return (200, ["data": [["user_id": "9"]]])
    default:
      faults.append("unexpected: \(method) \(path)")
      return (404, .null)
    }
  }

  private mutating func subscribe(_ body: JSONValue) -> (status: Int, body: JSONValue) {
    guard let type = body["type"]?.stringValue, let condition = body["condition"],
      condition["broadcaster_user_id"]?.stringValue == "42",
      let session = body["transport"]?["session_id"]?.stringValue
    else {
      faults.append("a subscription that says too little")
      return (400, ["message": "bad request"])
    }
    if dead.contains(session) { return (400, ["message": "session does not exist"]) }
    if forbidden.contains(type) { return (403, ["message": "not a moderator"]) }
    if subscriptions.contains(where: { $0.type == type && $0.condition == condition }) {
      conflicts += 1
      return (409, ["message": "subscription already exists"])
    }
    last += 1
    let new = Subscription(
      id: "subscription-\(last)", type: type, condition: condition, session: session)
    subscriptions.append(new)
    return (202, ["data": [new.report]])
  }
}

extension ScriptedEventSub.Subscription {
  var report: JSONValue {
    [
      "id": .string(id), "type": .string(type), "status": "enabled", "condition": condition,
      "transport": ["method": "websocket", "session_id": .string(session)],
    ]
  }
}

/// Messages of EventSub's WebSocket.
enum Message {
  static func of(
    _ type: String, id: String = "", _ payload: JSONValue = .object([:])
  ) -> JSONValue {
    [
      "metadata": [
        "message_id": .string(id), "message_type": .string(type),
        "message_timestamp": "2026-11-23T20:00:00.123456789Z",
      ], "payload": payload,
    ]
  }

  static func welcome(_ session: String, keepalive: Int64 = 10) -> JSONValue {
    of(
      "session_welcome",
      [
        "session": [
          "id": .string(session), "status": "connected",
          "keepalive_timeout_seconds": .integer(keepalive),
        ]
      ])
  }

  static func reconnect(_ session: String, _ url: String) -> JSONValue {
    of(
      "session_reconnect",
      [
        "session": [
          "id": .string(session), "status": "reconnecting", "reconnect_url": .string(url),
        ]
      ])
  }

  static func notification(id: String, text: String, type: String = "channel.chat.message")
    -> JSONValue
  {
    of(
      "notification", id: id,
      [
        "subscription": ["type": .string(type)],
        "event": [
          "broadcaster_user_login": "ada", "chatter_user_id": "7", "chatter_user_name": "Bo",
          "message_id": .string(id), "message": ["text": .string(text)],
        ],
      ])
  }

  static func revocation(_ type: String, _ status: String) -> JSONValue {
    of(
      "revocation",
      ["subscription": ["type": .string(type), "status": .string(status)]])
  }

}
