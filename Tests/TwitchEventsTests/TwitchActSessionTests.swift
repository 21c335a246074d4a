import JSON
import LiveEvents
import LiveSources
import RateLimiting
import TestSupport
import Testing
import TwitchEvents

/// A session whose requests for acts a test answers. The scripted Twitch answers all others.
private struct ActSteps {
  var session: EventSubSession
  var server = ScriptedEventSub()
  var now = Instant.origin
  var token = ScriptedEventSub.token
  /// The requests for acts, in order.
  var asked: [(id: Int, request: EventSubRequest)] = []
  /// The outcomes by the identifiers of the acts, in order.
  var outcomes: [String: [RequestOutcome]] = [:]
  var offers: [[ActKind]] = []
  var cancelled: [Int] = []
  var renewals = 0

  init(
    scopes: [String] = ActKind.allCases.map { TwitchAct.scope(of: $0) }, account: String = "42",
    acts: [ActKind] = ActKind.allCases
  ) throws {
    let address = try #require(HTTPAddress("wss://events.example/ws", .webSocket))
    var settings = EventSubSettings(channel: "ada", address: address)
    settings.acts = acts
    session = EventSubSession(settings, generator: SplitMix64(seed: 1), at: now)
    server.scopes = ["user:read:chat"] + scopes
    server.account = account
    wake()
    wake()
  }

  mutating func settle() {
    while case let effects = session.takeEffects(), !effects.isEmpty {
      for effect in effects { perform(effect) }
    }
  }

  private mutating func perform(_ effect: EventSubSession.Effect) {
    switch effect {
    case .ask(let id, let request):
      let others = ["/oauth2", "/helix/users", "/helix/streams", "/helix/eventsub"]
      guard others.contains(where: request.path.hasPrefix) else {
        return asked.append((id, request))
      }
      let answer = server.answer("\(request.method)", request.path, request.body, token: token)
      session.answered(id, status: answer.status, answer.body, at: now)
    case .renewToken:
      renewals += 1
      token = server.validToken
      session.renewed(.done, at: now)
    case .offer(let acts): offers.append(acts)
    case .outcome(let identifier, let outcome): outcomes[identifier, default: []].append(outcome)
    case .cancel(let id): cancelled.append(id)
    case .connect, .close, .event, .viewers, .status, .gap, .refused: break
    }
  }

  mutating func wake(after delay: Interval = .zero) {
    now = now + delay
    session.wake(at: now)
    settle()
  }

  mutating func act(_ identifier: String, _ act: PlatformAct) {
    session.carryOut(ActRequest(identifier: identifier, act: act), at: now)
    settle()
  }

  /// Requests that a message is written.
  mutating func say(_ identifier: String) throws {
    act(identifier, try PlatformAct(.say, text: Text(identifier)))
  }

  /// Requests that a person is banned.
  mutating func ban(_ number: Int) throws {
    act("ban\(number)", try PlatformAct(.ban, person: Person(id: Text("\(number)"), name: "Bo")))
  }

  /// Answers the request for an act with this index.
  mutating func answer(
    _ index: Int, _ status: Int, _ body: JSONValue = .null, reset: Interval? = nil
  ) {
    session.answered(
      asked[index].id, status: status, body, reset: reset.map { now + $0 }, at: now)
    settle()
  }

  mutating func fail(_ index: Int, mayBeSent: Bool) {
    session.failed(asked[index].id, reason: "broken", mayBeSent: mayBeSent, at: now)
    settle()
  }

  /// The texts of the messages that Twitch was asked to write.
  var texts: [String] { asked.compactMap { $0.request.body?["message"]?.stringValue } }
}

private let sent: JSONValue = ["data": [["message_id": "m", "is_sent": true]]]
private let rejected: JSONValue = ["message": "no"]

struct TwitchActSessionTests {
  // MARK: Offers

  @Test func `the acts that the token allows are offered once, and again when they change`() throws
  {
    var steps = try ActSteps(scopes: ["user:write:chat"])
    #expect(steps.offers == [[.say, .reply]])
    steps.wake(after: .seconds(3_600))
    #expect(steps.offers.count == 1)
    steps.server.scopes += ["moderator:manage:announcements"]
    steps.wake(after: .seconds(3_600))
    #expect(steps.offers == [[.say, .reply], [.say, .reply, .announce]])
  }

  @Test func `a token without scopes for acts offers none`() throws {
    let steps = try ActSteps(scopes: [])
    #expect(steps.offers.isEmpty)
  }

  @Test func `an act that is not offered is refused with the reason`() throws {
    var steps = try ActSteps(
      scopes: ["channel:manage:broadcast"], account: "7", acts: [.say, .setTitle])
    #expect(steps.offers == [])
    try steps.say("a")
    steps.act("b", try PlatformAct(.setTitle, text: "new"))
    steps.act("c", try PlatformAct(.mark))
    #expect(steps.asked.isEmpty)
    #expect(
      steps.outcomes == [
        "a": [
          .refused(
            reason: "the token lacks user:write:chat; "
              + "run livehostctl login twitch --client-id ID --acts all")
        ], "b": [.refused(reason: "only the channel's owner can do this")],
        "c": [.refused(reason: "the source's configuration does not allow this")],
      ])
  }

  @Test func `an act that exceeds a limit of Twitch is refused and not sent`() throws {
    var steps = try ActSteps()
    steps.act("a", try PlatformAct(.setTitle, text: Text(String(repeating: "a", count: 141))))
    #expect(steps.asked.isEmpty)
    #expect(
      steps.outcomes["a"]
        == [.refused(reason: "the text is longer than Twitch's limit of 140 characters")])
  }

  // MARK: Outcomes

  @Test func `an act is sent once and ends with Twitch's answer`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    // The room sends the act again, and Twitch's answer arrives twice.
    try steps.say("a")
    #expect(steps.texts == ["a"])
    steps.answer(0, 200, sent)
    steps.answer(0, 200, sent)
    #expect(steps.outcomes == ["a": [.confirmed]])
    try steps.ban(1)
    steps.answer(1, 400, rejected)
    #expect(steps.outcomes["ban1"] == [.refused(reason: "Twitch: no")])
  }

  @Test func `a category is set with two requests`() throws {
    var steps = try ActSteps()
    steps.act("a", try PlatformAct(.setCategory, text: "Tetris"))
    steps.answer(0, 200, ["data": [["id": "509"]]])
    #expect(steps.outcomes.isEmpty)
    #expect(steps.asked.map(\.request.method) == [.get, .patch])
    steps.answer(1, 204)
    #expect(steps.outcomes == ["a": [.confirmed]])
  }

  // MARK: Tokens

  @Test func `an act that an expired token prevents is repeated once after its renewal`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    try steps.ban(1)
    steps.server.validToken = 8
    steps.answer(0, 401, rejected)
    #expect(steps.renewals == 1)
    // The answer for the previous token does not renew the token again.
    steps.answer(1, 401, rejected)
    #expect(steps.renewals == 1)
    #expect(steps.asked.count == 4)
    #expect(steps.texts == ["a", "a"])
    steps.answer(2, 200, sent)
    steps.answer(3, 401, rejected)
    #expect(
      steps.outcomes == ["a": [.confirmed], "ban1": [.refused(reason: "Twitch: no")]])
    #expect(steps.asked.count == 4)
  }

  @Test func `an act that a valid token does not allow ends without ending the session`() throws {
    var steps = try ActSteps()
    for number in 0..<5 {
      try steps.ban(number)
      steps.answer(2 * number, 401, rejected)
      steps.answer(2 * number + 1, 401, rejected)
      #expect(steps.outcomes["ban\(number)"] == [.refused(reason: "Twitch: no")])
    }
    #expect(steps.renewals == 0)
    #expect(steps.session.deadline != nil)
  }

  @Test func `an act for which the token lacks a scope is not repeated`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    steps.answer(0, 401, ["message": "Missing scope: user:write:chat"])
    #expect(steps.asked.count == 1)
    guard case .refused(let reason)? = steps.outcomes["a"]?.first else {
      Issue.record("the act is not refused")
      return
    }
    #expect(reason.contains("user:write:chat") && reason.contains("livehostctl login twitch"))
  }

  // MARK: Rate limits

  @Test func `an act that exceeds the rate limit is sent again once the limit is reset`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    try steps.say("b")
    steps.answer(0, 429, reset: .seconds(2))
    #expect(steps.texts == ["a"])
    steps.wake(after: .milliseconds(1_900))
    #expect(steps.texts == ["a"])
    #expect(steps.session.deadline == steps.now + .milliseconds(100))
    steps.wake(after: .milliseconds(100))
    #expect(steps.texts == ["a", "a"])
    steps.answer(1, 200, sent)
    #expect(steps.outcomes == ["a": [.confirmed]])
    // The second message waits for the first one.
    #expect(steps.texts == ["a", "a", "b"])
  }

  @Test func `an act that exceeds the rate limit twice is refused`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    steps.answer(0, 429, reset: .zero)
    #expect(steps.texts == ["a", "a"])
    steps.answer(1, 429, rejected, reset: .zero)
    #expect(steps.outcomes == ["a": [.refused(reason: "Twitch: no")]])
    #expect(steps.asked.count == 2)
  }

  @Test(arguments: [nil, Interval.seconds(4), .seconds(3_600)])
  func `an act is refused if the rate limit is not reset in time`(reset: Interval?) throws {
    var steps = try ActSteps()
    try steps.say("a")
    steps.answer(0, 429, reset: reset)
    #expect(steps.outcomes == ["a": [.refused(reason: "Twitch answers 429")]])
  }

  // MARK: Missing answers

  @Test func `an act whose answer is late has an unknown outcome and is not repeated`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    steps.wake(after: .milliseconds(3_999))
    #expect(steps.outcomes.isEmpty)
    steps.wake(after: .milliseconds(1))
    let unknown = RequestOutcome.unknown("Twitch does not answer in time")
    #expect(steps.outcomes == ["a": [unknown]])
    #expect(steps.cancelled == [steps.asked[0].id])
    steps.answer(0, 200, sent)
    steps.wake(after: .seconds(60))
    #expect(steps.outcomes == ["a": [unknown]])
    #expect(steps.asked.count == 1)
  }

  @Test func `an act whose connection broke is not repeated`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    steps.fail(0, mayBeSent: true)
    try steps.say("b")
    steps.fail(1, mayBeSent: false)
    #expect(
      steps.outcomes == [
        "a": [.unknown("broken")], "b": [.refused(reason: "Twitch cannot be reached: broken")],
      ])
    steps.wake(after: .seconds(60))
    #expect(steps.asked.count == 2)
  }

  @Test func `a category whose number is not found out is certainly not set`() throws {
    var steps = try ActSteps()
    steps.act("a", try PlatformAct(.setCategory, text: "Tetris"))
    steps.fail(0, mayBeSent: true)
    #expect(steps.outcomes == ["a": [.refused(reason: "broken")]])
  }

  @Test func `the outcomes of all acts are reported when the session ends`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    try steps.say("b")
    steps.server.validToken = 8
    steps.session.answered(
      try #require(steps.asked.first).id, status: 401, rejected, at: steps.now)
    for effect in steps.session.takeEffects() {
      if case .ask(let id, _) = effect {
        steps.session.answered(id, status: 401, rejected, at: steps.now)
      }
    }
    steps.session.renewed(.refused("log in again"), at: steps.now)
    steps.settle()
    let refused = [RequestOutcome.refused(reason: "log in again")]
    #expect(steps.outcomes == ["a": refused, "b": refused])
    #expect(steps.offers.last == [])
    try steps.say("c")
    #expect(
      steps.outcomes["c"] == [.refused(reason: "the source is not connected to Twitch")])
  }

  // MARK: The queue

  @Test func `at most 4 acts are in flight and 32 are waiting, and others are refused`() throws {
    var steps = try ActSteps()
    for number in 1...37 { try steps.ban(number) }
    #expect(steps.asked.count == 4)
    #expect(
      steps.outcomes
        == ["ban37": [.refused(reason: "too many acts are waiting for Twitch")]])
    steps.answer(0, 200)
    #expect(steps.asked.count == 5)
    steps.wake(after: .seconds(4))
    #expect(steps.outcomes.count == 37)
    #expect(steps.outcomes.values.allSatisfy { $0.count == 1 })
    #expect(
      steps.outcomes["ban36"] == [.refused(reason: "Twitch does not answer in time")])
  }

  @Test func `messages are written one after the other, and bans do not wait for them`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    try steps.say("b")
    try steps.ban(1)
    #expect(steps.asked.count == 2)
    #expect(steps.texts == ["a"])
    steps.answer(0, 200, sent)
    #expect(steps.texts == ["a", "b"])
  }

  @Test func `a withdrawn act is not sent, and the answer to a sent one is ignored`() throws {
    var steps = try ActSteps()
    try steps.say("a")
    try steps.say("b")
    try steps.say("c")
    steps.session.withdraw("b")
    steps.session.withdraw("a")
    steps.settle()
    #expect(steps.cancelled == [steps.asked[0].id])
    // The third message can be sent now.
    #expect(try #require(steps.session.deadline) <= steps.now)
    steps.wake()
    #expect(steps.texts == ["a", "c"])
    steps.answer(0, 200, sent)
    steps.answer(1, 200, sent)
    #expect(steps.outcomes == ["c": [.confirmed]])
  }
}
