package import JSON
package import LiveSources

/// A request to Twitch, to which the sender adds the authorization.
package struct EventSubRequest: Equatable, Sendable {
  package typealias Method = HTTPRequest.Method

  /// Whether the request is for the login server instead of the API server.
  package var isForLogins = false
  package var method = Method.get
  /// The path with its query, starting with a slash.
  package var path: String
  package var body: JSONValue?

  /// Requests the account and the permissions of the token.
  static let validation = EventSubRequest(isForLogins: true, path: "/oauth2/validate")

  static func channel(_ name: String) -> EventSubRequest {
    EventSubRequest(path: "/helix/users?login=\(name)")
  }

  static func stream(of channel: String) -> EventSubRequest {
    EventSubRequest(path: "/helix/streams?user_id=\(channel)")
  }

  private static let subscriptions = "/helix/eventsub/subscriptions"

  static func subscribe(
    _ type: EventSubType, channel: String, user: String, session: String
  ) -> EventSubRequest {
    var condition: [JSONName: JSONValue] = ["broadcaster_user_id": .string(channel)]
    if let reader = type.reader { condition[JSONName(reader.rawValue)] = .string(user) }
    return EventSubRequest(
      method: .post, path: subscriptions,
      body: [
        "type": .string(type.name), "version": .string(type.version),
        "condition": .object(condition),
        "transport": ["method": "websocket", "session_id": .string(session)],
      ])
  }

  static func list(after cursor: String?) -> EventSubRequest {
    EventSubRequest(path: subscriptions + (cursor.map { "?after=\($0.inQuery)" } ?? ""))
  }

  static func delete(_ id: String) -> EventSubRequest {
    EventSubRequest(method: .delete, path: "\(subscriptions)?id=\(id.inQuery)")
  }
}

extension String {
  /// The text in percent encoding, for a query or a form.
  var inQuery: String {
    var text = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
    return text
  }
}
