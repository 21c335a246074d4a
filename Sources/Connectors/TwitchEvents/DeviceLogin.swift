package import JSON
package import LiveEvents
package import LiveSources
package import RateLimiting

/// Logs in with OAuth's device code flow, which needs no browser on this machine. Shows a code, and
/// polls until the user has confirmed it on another device.
///
/// A state machine without I/O: the owner makes the requests, and passes in their answers and the
/// time.
package struct DeviceLogin {
  package enum Effect {
    /// Make the request. Report the result with `answered(_:_:at:)`.
    case ask(HTTPRequest)
    /// Show the code, the address at which to confirm it, and for how many seconds it is valid.
    case show(address: String, code: String, seconds: Int)
    case done(TwitchLogin)
    case refused(String)
  }

  private enum Phase {
    case asking
    case polling(code: Secret)
    case naming(TwitchLogin)
    case over
  }

  /// The permissions that the subscribed event types require.
  private static let readingScopes =
    Set(EventSubType.all.compactMap(\.scopes.first)).union(["chat:read"])

  private let server: HTTPAddress
  private let clientID: String
  private let scopes: String
  private var phase = Phase.asking
  private var interval = Interval.seconds(5)
  private var askAt: Instant?
  private var expiresAt: Instant?
  private var effects: [Effect] = []

  /// - Parameters:
  ///   - clientID: The identifier of an application registered with Twitch.
  ///   - acts: The acts for which to also request permissions. Without them, a stolen login can
  ///     only read.
  package init(clientID: String, server: HTTPAddress, acts: [ActKind] = []) {
    self.clientID = clientID
    self.server = server
    scopes = Self.readingScopes.union(acts.map { TwitchAct.scope(of: $0) }).sorted()
      .joined(separator: " ")
    effects = [
      .ask(
        .form(
          server.appending("/oauth2/device"),
          [("client_id", clientID), ("scopes", scopes)]))
    ]
  }

  package mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? { askAt }

  package mutating func wake(at now: Instant) {
    guard let time = askAt, time <= now, case .polling(let code) = phase else { return }
    askAt = nil
    if let expiresAt, expiresAt <= now {
      return refuse("the code was not confirmed in time")
    }
    effects.append(
      .ask(
        code.reveal {
          .form(
            server.appending("/oauth2/token"),
            [
              ("client_id", clientID), ("scopes", scopes), ("device_code", $0),
              ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ])
        }))
  }

  private mutating func refuse(_ reason: String) {
    phase = .over
    effects.append(.refused(reason))
  }

  /// Processes the answer to a request. `status` is the HTTP status, or `nil` if there was no
  /// answer.
  package mutating func answered(_ status: Int?, _ body: JSONValue, at now: Instant) {
    switch phase {
    case .asking: begin(status, body, at: now)
    case .polling: poll(status, body, at: now)
    case .naming(var login):
      login.account = body["login"]?.stringValue
      phase = .over
      effects.append(.done(login))
    case .over: break
    }
  }

  private mutating func begin(_ status: Int?, _ body: JSONValue, at now: Instant) {
    guard status == 200, let code = body["device_code"]?.stringValue,
      let address = body["verification_uri"]?.stringValue,
      let shown = body["user_code"]?.stringValue
    else { return refuse(Self.problem(status, body)) }
    let seconds = min(max(body["expires_in"]?.integerValue ?? 1_800, 1), 86_400)
    interval = .seconds(min(max(body["interval"]?.integerValue ?? 5, 1), 60))
    phase = .polling(code: Secret(code))
    expiresAt = now + .seconds(seconds)
    askAt = now + interval
    effects.append(.show(address: address, code: shown, seconds: Int(seconds)))
  }

  private mutating func poll(_ status: Int?, _ body: JSONValue, at now: Instant) {
    let message = body["message"]?.word() ?? ""
    switch status {
    case 200?:
      var login = TwitchLogin(token: Secret(""))
      guard login.store(body) else { return refuse(Self.problem(status, body)) }
      login.clientID = clientID
      phase = .naming(login)
      var request = HTTPRequest(.get, server.appending("/oauth2/validate"))
      login.authorize(&request, isForLogins: true)
      effects.append(.ask(request))
    case 400? where message == "slow_down":
      interval = interval + .seconds(5)
      askAt = now + interval
    case 400? where message == "authorization_pending", nil, 429?, 500?, 502?, 503?:
      askAt = now + interval
    default: refuse(Self.problem(status, body))
    }
  }

  private static func problem(_ status: Int?, _ body: JSONValue) -> String {
    guard let status else { return "Twitch does not answer" }
    return "Twitch answers \(status)"
      + (body["message"]?.stringValue.map { ": " + String($0.unicodeScalars.prefix(80)) } ?? "")
  }
}
