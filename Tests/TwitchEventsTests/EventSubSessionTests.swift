import ChatImport
import JSON
import LiveEvents
import LiveSources
import RateLimiting
import SourceTestSupport
import TestSupport
import Testing
import TwitchEvents

/// A session that a test drives step by step. The scripted Twitch answers its requests immediately.
private struct Steps {
  var session: EventSubSession
  var server = ScriptedEventSub()
  var now = Instant.origin
  var token = ScriptedEventSub.token
  var effects: [EventSubSession.Effect] = []

  init() throws {
    let address = try #require(HTTPAddress("wss://events.example/ws", .webSocket))
    session = EventSubSession(
      EventSubSettings(channel: "ada", address: address), generator: SplitMix64(seed: 1), at: now)
  }

  /// Answers requests until there are none left.
  mutating func settle(renewal: EventSubSession.Renewal = .done) {
    var new = session.takeEffects()
    while !new.isEmpty {
      effects += new
      for effect in new {
        if case .ask(let id, let request) = effect {
          let answer = server.answer("\(request.method)", request.path, request.body, token: token)
          session.answered(id, status: answer.status, answer.body, at: now)
        }
        if effect == .renewToken {
          if renewal == .done { token = server.validToken }
          session.renewed(renewal, at: now)
        }
      }
      new = session.takeEffects()
    }
  }

  mutating func wake(after delay: Interval = .zero, renewal: EventSubSession.Renewal = .done) {
    now = now + delay
    session.wake(at: now)
    settle(renewal: renewal)
  }

  mutating func receive(_ message: JSONValue, on id: Int = 1) {
    session.receive(message, on: id, at: now)
    settle()
  }

  /// Connects and subscribes.
  mutating func begin() {
    wake()
    wake()
    session.opened(1, at: now)
    receive(Message.welcome("one"))
  }

  /// Performs all due actions for an interval.
  mutating func run(for interval: Interval, _ body: (inout Steps) -> Void = { _ in }) {
    let end = now + interval
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      session.wake(at: now)
      settle()
      body(&self)
    }
    now = end
  }

  /// The connections that the session has opened.
  var attempts: [Int] {
    effects.compactMap { if case .connect(let id, _) = $0 { id } else { nil } }
  }

  /// The number of connections that are opened and not closed.
  var open: Int { attempts.count { !effects.contains(.close($0)) } }

  var status: SourceStatus? {
    effects.reduce(nil) { if case .status(let status) = $1 { status } else { $0 } }
  }
}

struct EventSubSessionTests {
  @Test func `the status reports events that cannot be shown, at most once in ten seconds`() throws
  {
    var steps = try Steps()
    steps.begin()
    for count in 1...3 {
      steps.session.setRemark("not shown: \(count) a", notShown: count, at: steps.now)
      steps.settle()
    }
    #expect(steps.status?.state == .live)
    #expect(steps.status?.reason?.hasSuffix("not shown: 1 a") == true)
    #expect(steps.status?.notShown == 1)
    steps.wake(after: .seconds(10))
    #expect(steps.status?.reason?.hasSuffix("not shown: 3 a") == true)
    #expect(steps.status?.notShown == 3)
  }

  @Test
  func `the session subscribes to all types that the token allows, and reports missing scopes`()
    throws
  {
    var steps = try Steps()
    steps.begin()
    #expect(steps.status?.state == .live)
    #expect(
      steps.status?.reason
        == "the token lacks channel:read:hype_train, channel:read:predictions")
    #expect(steps.server.has("one", "channel.chat.message") != nil)
    #expect(steps.server.has("one", "channel.follow") != nil)
    #expect(steps.server.has("one", "channel.hype_train.begin") == nil)
    #expect(steps.effects.contains(.viewers(17)))
  }

  @Test func `subscriptions of a lost session are deleted and made again`() throws {
    var steps = try Steps()
    steps.begin()
    steps.server.lost("one")
    steps.session.closed(1, reason: "closed", at: steps.now)
    steps.wake()
    steps.session.opened(2, at: steps.now)
    steps.receive(Message.welcome("two"), on: 2)
    #expect(steps.server.conflicts > 0)
    #expect(steps.server.has("one", "channel.follow") == nil)
    #expect(steps.server.has("two", "channel.follow") != nil)
    #expect(steps.status?.state == .live)
    #expect(steps.effects.contains { if case .gap = $0 { true } else { false } })
  }

  @Test func `a session that moves to another connection loses no event and subscribes once`()
    throws
  {
    var steps = try Steps()
    steps.begin()
    let before = steps.server.subscriptions.count
    steps.now = steps.now + .seconds(5)
    steps.receive(Message.reconnect("one", "wss://events.example/ws?reconnect_id=1"))
    let address = try #require(
      HTTPAddress("wss://events.example/ws?reconnect_id=1", .webSocket))
    #expect(steps.effects.contains(.connect(2, address)))
    steps.session.opened(2, at: steps.now)
    steps.receive(Message.welcome("one"), on: 2)
    // This message was in flight on the old connection, which is still read.
    steps.receive(Message.notification(id: "a", text: "a"), on: 1)
    steps.receive(Message.notification(id: "a", text: "a"), on: 2)
    #expect(steps.session.forwarded == 1)
    #expect(steps.session.duplicates == 1)
    #expect(!steps.effects.contains(.close(1)))
    // A welcome on a replaced connection is ignored.
    steps.receive(Message.welcome("one"), on: 1)
    steps.wake(after: .seconds(5))
    #expect(steps.effects.contains(.close(1)))
    #expect(steps.server.subscriptions.count == before)
    #expect(!steps.effects.contains { if case .gap = $0 { true } else { false } })
  }

  @Test func `servers that redirect to each other are contacted only every five seconds`() throws {
    var steps = try Steps()
    steps.begin()
    func redirect(_ steps: inout Steps, from id: Int) {
      for url in ["a", "b"] {
        steps.receive(Message.reconnect("one", "wss://events.example/\(url)\(id)"), on: id)
      }
    }
    redirect(&steps, from: 1)
    #expect(steps.attempts == [1])
    var last = 1
    steps.run(for: .seconds(60)) { steps in
      guard let new = steps.attempts.last, new != last else { return }
      last = new
      steps.session.opened(new, at: steps.now)
      steps.receive(Message.welcome("one"), on: new)
      redirect(&steps, from: new)
      #expect(steps.open <= 2)
    }
    #expect(steps.attempts.count == 13)
    #expect(steps.status?.state == .live)
  }

  @Test func `a server that sends one new address after another is contacted only after pauses`()
    throws
  {
    var steps = try Steps()
    steps.begin()
    var (last, urls) = (1, 0)
    for _ in 0..<600 {
      steps.run(for: .milliseconds(100)) { steps in
        guard let new = steps.attempts.last, new != last else { return }
        last = new
        steps.session.closed(new, reason: "connection refused", at: steps.now)
      }
      urls += 1
      steps.receive(Message.reconnect("one", "wss://events.example/\(urls)"))
    }
    #expect((3...20).contains(steps.attempts.count))
  }

  @Test func `an encrypted session does not follow a redirection to an unencrypted address`() throws
  {
    var steps = try Steps()
    steps.begin()
    steps.receive(Message.reconnect("one", "ws://events.example/ws?reconnect_id=1"))
    #expect(steps.effects.filter { if case .connect = $0 { true } else { false } }.count == 1)
  }

  @Test func `a revoked subscription is reported, and the last revocation ends the session`() throws
  {
    var steps = try Steps()
    steps.server.scopes = []
    steps.begin()
    steps.receive(Message.revocation("stream.online", "version_removed"))
    #expect(steps.status?.state == .live)
    #expect(
      steps.status?.reason?.contains("stream.online: revoked, version_removed") == true)
    steps.receive(Message.revocation("stream.offline", "authorization_revoked"))
    steps.receive(Message.revocation("channel.update", "authorization_revoked"))
    #expect(steps.status?.state == .refused)
    #expect(steps.session.deadline == nil)
  }

  @Test func `an expired token is renewed once, and a failed renewal ends the session`() throws {
    var steps = try Steps()
    steps.server.validToken = 8
    steps.begin()
    #expect(steps.effects.filter { $0 == .renewToken }.count == 1)
    #expect(steps.status?.state == .live)
    steps.server.validToken = 9
    steps.wake(after: .seconds(3_600), renewal: .refused("log in again"))
    #expect(steps.status == SourceStatus(.refused, reason: "log in again"))
    #expect(steps.effects.contains(.close(1)) || steps.effects.contains(.close(2)))
  }

  @Test(arguments: [404, 200])
  func `requests about the channel are retried at growing intervals after invalid answers`(
    status: Int
  ) throws {
    var steps = try Steps()
    steps.server.lookups = Array(repeating: (status, .null), count: 1_000)
    steps.run(for: .seconds(60))
    #expect((900..<998).contains(steps.server.lookups.count))
    #expect(steps.status == SourceStatus(.connecting, reason: "Twitch answers \(status)"))
  }

  @Test func `a channel with an invalid name is refused`() throws {
    var steps = try Steps()
    steps.server.lookups = [(400, ["message": "Invalid login names, emails or IDs in request"])]
    steps.wake()
    #expect(steps.status == SourceStatus(.refused, reason: "the channel ada does not exist"))
  }

  @Test func `a token that passes its validation but not the requests ends the session`() throws {
    var steps = try Steps()
    steps.server.unauthorized = 1_000
    steps.wake()
    #expect(steps.effects.count { $0 == .renewToken } == 3)
    #expect(steps.status == SourceStatus(.refused, reason: "Twitch does not accept the token"))
  }

  @Test func `conflicting subscriptions are deleted a limited number of times`() throws {
    var steps = try Steps()
    steps.wake()
    steps.wake()
    steps.session.opened(1, at: steps.now)
    steps.session.receive(Message.welcome("one"), on: 1, at: steps.now)
    let list: JSONValue = .array(
      (0..<10_000).map { number in
        [
          "id": .string("id\(number)"), "type": "stream.online",
          "condition": ["broadcaster_user_id": "42"], "transport": ["session_id": "lost"],
        ]
      })
    var asked = 0
    var effects = steps.session.takeEffects()
    while !effects.isEmpty, asked < 20_000 {
      for case .ask(let id, let request) in effects {
        asked += 1
        switch request.method {
        case .post: steps.session.answered(id, status: 409, .null, at: steps.now)
        case .get: steps.session.answered(id, status: 200, ["data": list], at: steps.now)
        case .delete: steps.session.answered(id, status: 204, .null, at: steps.now)
        case .put, .patch: Issue.record("unexpected request: \(request)")
        }
      }
      steps.effects += effects
      effects = steps.session.takeEffects()
    }
    #expect((100..<300).contains(asked))
    #expect(steps.status?.state == .refused)
  }

  @Test(.timeLimit(.minutes(1)))
  func `names and types in notifications that are too long to compare are ignored`() throws {
    var steps = try Steps()
    let text = JSONValue.string(NastyText.marks)
    steps.begin()
    steps.receive(["metadata": ["message_type": text]])
    steps.receive(Message.notification(id: "a", text: "a", type: NastyText.marks))
    steps.receive(Message.reconnect("one", NastyText.marks))
    steps.receive(Message.reconnect("one", "wss://\(NastyText.marks)/ws"))
    steps.receive(Message.revocation(NastyText.marks, "x"))
    #expect(steps.session.forwarded == 0)
    #expect(steps.attempts == [1])
    #expect(steps.status?.state == .live)
    steps.session.closed(1, reason: "closed", at: steps.now)
    steps.wake()
    steps.session.opened(2, at: steps.now)
    let before = steps.server.subscriptions.count
    steps.receive(Message.welcome(NastyText.marks), on: 2)
    #expect(steps.server.subscriptions.count == before)
    // The list of conflicting subscriptions contains unusable values.
    steps.session.receive(Message.welcome("two"), on: 2, at: steps.now)
    let entry: JSONValue = [
      "id": text, "type": text, "condition": ["broadcaster_user_id": text],
      "transport": ["session_id": text],
    ]
    let body: JSONValue = ["data": .array([entry]), "pagination": ["cursor": text]]
    var methods: Set<String> = []
    var effects = steps.session.takeEffects()
    while !effects.isEmpty {
      for case .ask(let id, let request) in effects {
        methods.insert("\(request.method)")
        let status = request.method == .post ? 409 : 200
        steps.session.answered(id, status: status, body, at: steps.now)
      }
      steps.effects += effects
      effects = steps.session.takeEffects()
    }
    #expect(methods == ["post", "get"])
  }

  @Test func `a silent server is disconnected after 1.2 times its keepalive time`() throws {
    var steps = try Steps()
    steps.begin()
    steps.wake(after: .milliseconds(11_900))
    #expect(!steps.effects.contains(.close(1)))
    steps.wake(after: .milliseconds(100))
    #expect(steps.effects.contains(.close(1)))
  }

  @Test func `a forbidden subscription is reported and not requested again`() throws {
    var steps = try Steps()
    steps.server.forbidden = ["channel.follow"]
    steps.begin()
    #expect(steps.status?.reason?.contains("channel.follow: not a moderator") == true)
    #expect(steps.status?.state == .live)
  }

  @Test(arguments: [
    JSONValue.null, [], "text", ["metadata": .null], ["metadata": ["message_type": 1]],
    ["metadata": ["message_type": "session_welcome"]],
    ["metadata": ["message_type": "session_reconnect"], "payload": ["session": [:]]],
    ["metadata": ["message_type": "notification"], "payload": [:]],
    ["metadata": ["message_type": "notification", "message_id": "a"], "payload": ["event": 1]],
    ["metadata": ["message_type": "revocation"]], ["metadata": ["message_type": "unknown"]],
  ])
  func `notifications without usable content change nothing`(message: JSONValue) throws {
    var steps = try Steps()
    steps.begin()
    steps.receive(message)
    #expect(steps.status?.state == .live)
    #expect(steps.session.forwarded == 0)
  }

  @Test func `damaged messages and answers are ignored or end the EventSub session`() throws {
    var generator = SplitMix64(seed: 11)
    let messages = [
      Message.welcome("two"), Message.reconnect("one", "wss://events.example/ws"),
      Message.notification(id: "a", text: "a"), Message.revocation("channel.follow", "x"),
      Message.of("session_keepalive"),
    ].map { $0.serialized() }
    var parsed = 0
    for round in 0..<200 {
      var steps = try Steps()
      if round % 2 == 0 { steps.begin() } else { steps.wake() }
      for request in 1...100 {
        var bytes = messages[generator.pick(0..<messages.count)]
        for _ in 0..<generator.pick(1..<4) {
          bytes[generator.pick(0..<bytes.count)] = UInt8(generator.pick(32..<127))
        }
        guard let message = try? JSONValue(parsing: bytes) else { continue }
        parsed += 1
        steps.session.answered(
          request, status: [200, 202, 400, 503][generator.pick(0..<4)], message, at: steps.now)
        steps.receive(message, on: generator.pick(1..<3))
        steps.wake(after: .milliseconds(Int64(generator.pick(0..<2_000))))
      }
    }
    #expect(parsed > 5_000)
  }

  @Test(.timeLimit(.minutes(2)))
  func `100,000 hostile messages and answers violate no invariant of the EventSub session`() throws
  {
    let hostile = try HostileJSON([
      #"{"metadata":{"message_id":"a","message_type":"session_welcome","message_timestamp":"2026-11-24T20:00:00Z"},"payload":{"session":{"id":"s","status":"connected","keepalive_timeout_seconds":10,"reconnect_url":null}}}"#,
      #"{"metadata":{"message_id":"b","message_type":"session_keepalive","message_timestamp":"2026-11-24T20:00:00Z"},"payload":{}}"#,
      #"{"metadata":{"message_id":"c","message_type":"session_reconnect"},"payload":{"session":{"id":"s","status":"reconnecting","reconnect_url":"wss://other.example/ws"}}}"#,
      #"{"metadata":{"message_id":"d","message_type":"revocation","subscription_type":"channel.follow"},"payload":{"subscription":{"id":"x","type":"channel.follow","status":"authorization_revoked"}}}"#,
      #"{"metadata":{"message_id":"e","message_type":"notification","message_timestamp":"2026-11-24T20:00:00Z","subscription_type":"channel.chat.message","subscription_version":"1"},"payload":{"subscription":{"id":"y","type":"channel.chat.message"},"event":{"broadcaster_user_login":"ada","chatter_user_id":"7","chatter_user_name":"Bo","message_id":"m","message":{"text":"hi"},"badges":[{"set_id":"vip","id":"1"}]}}}"#,
      #"{"client_id":"c","login":"ada","user_id":"42","scopes":["user:read:chat","user:write:chat"],"expires_in":5000}"#,
      #"{"data":[{"message_id":"m","is_sent":false,"drop_reason":{"code":"slow_mode","message":"slow"}}],"error":"Unauthorized","status":401,"message":"Missing scope: x"}"#,
      #"{"data":[{"id":"42","login":"ada","viewer_count":7,"type":"channel.follow","condition":{},"transport":{"session_id":"s"}}],"pagination":{"cursor":"c"}}"#,
    ])
    var generator = SplitMix64(seed: 19)
    let address = try #require(HTTPAddress("wss://events.example/ws", .webSocket))
    func begin(_ now: Instant) -> EventSubSession {
      EventSubSession(
        EventSubSettings(channel: "ada", address: address), generator: SplitMix64(seed: 1), at: now)
    }
    var now = Instant.origin
    var session = begin(now)
    var (connection, requests, told) = (0, [Int](), 0)
    let say = try PlatformAct(.say, text: "hi")
    var (acts, ended) = (0, Set<String>())
    for _ in 0..<100_000 {
      switch Int.random(in: 0..<100, using: &generator) {
      case 0: session.closed(connection, reason: "gone", at: now)
      case 1...4: session.opened(connection, at: now)
      case 5...9:
        now = now + .milliseconds(.random(in: 0...5000, using: &generator))
        session.wake(at: now)
      case 10...40:
        guard let id = requests.popLast() else { continue }
        let status = [200, 200, 202, 204, 400, 401, 409, 429, 500].randomElement(using: &generator)
        session.answered(
          id, status: status ?? 200, hostile.message(using: &generator),
          reset: generator.oneIn(2) ? now : nil, at: now)
      case 41...45:
        acts += 1
        session.carryOut(ActRequest(identifier: "\(acts)", act: say), at: now)
      default: session.receive(hostile.message(using: &generator), on: connection, at: now)
      }
      let effects = session.takeEffects()
      #expect(effects.count < 1000)
      for effect in effects {
        switch effect {
        case .connect(let id, _): connection = id
        case .ask(let id, _): requests = requests.suffix(16) + [id]
        case .renewToken: session.renewed(.done, at: now)
        case .outcome(let act, _): #expect(ended.insert(act).inserted)
        case .event(let notification):
          told += 1
          var lines = NativeLines()
          EventSub.translate(notification, into: &lines)
          #expect(lines.bytes.count < 65_536 * max(1, lines.lines))
        case .refused: (session, requests) = (begin(now), [])
        default: break
        }
      }
    }
    #expect(told > 0)
    #expect(acts > 1_000)
  }
}
